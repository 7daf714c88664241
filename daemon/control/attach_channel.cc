#include "daemon/control/attach_channel.h"

#include <sys/socket.h>

namespace gpuos::control {

absl::Status AttachChannel::Send(const v1::AttachServerMessage& message, int descriptor) const {
  return SendAttachPacket(socket_.get(), message.SerializeAsString(), descriptor);
}

void AttachChannel::Shutdown() const { shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace gpuos::control
