// Step: what moves the worker and answers what took time.
#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/executor/admission.h"
#include "daemon/executor/core.h"
#include "daemon/executor/operator_failure.h"
#include "kernels/abi/queue.h"

namespace gpuos::executor {

Core::StepResult Core::Step(Time now) {
  // Before the completions: a launch that ended has completed every batch before its PARK.
  const absl::StatusOr<std::uint64_t> launches = device_.worker().FinishedLaunches();
  if (launches.ok()) {
    residence_.LaunchesFinished(*launches);
    TakeCompletions(now);
    AnswerDrops();
    ReleaseSegments(now);
    PublishWaiting(now);
    step_.health = MoveWorker(now);
    FinishClosing();
    FinishStopping();
    if (step_.health.ok()) step_.health = CheckHealth(now);
  } else {
    step_.health = launches.status();
  }
  return std::exchange(step_, StepResult{});
}

void Core::TakeCompletions(Time now) {
  for (const CompletedBatch& completed : publisher_.TakeCompleted()) {
    residence_.BatchCompleted(now);
    Batch& batch = *completed.batch;
    absl::Status result =
        ResultOf(completed.completion, batch.program->address, device_.memory(), catalog_);
    if (batch.session != kOwnSession) Count(batch, result.ok());
    Session& session = *sessions_.at(batch.session).session;
    session.Complete(batch, std::move(result));
    session.TakeAnswers(step_.finished);
    step_.worked = true;
  }
}

void Core::Count(const Batch& batch, bool ok) {
  ++totals_.completed;
  if (!ok) {
    ++totals_.failed;
    return;
  }
  totals_.tasks_completed += batch.program->tasks;
  for (const auto& [op, calls] : batch.program->calls) operator_calls_[op] += calls;
}

void Core::ReleaseSegments(Time now) {
  if (releases_.wants_park()) residence_.RequestPark(now);
  for (Releases::Released& released : releases_.Run(residence_.parked())) {
    step_.worked = true;
    if (released.owner.ticket) {
      Answer(*released.owner.ticket, std::move(released.status));
    } else {
      sessions_.at(released.owner.session).close_status.Update(released.status);
    }
  }
  if (!releases_.wants_park()) residence_.EndParkRequest();
}

void Core::PublishWaiting(Time now) {
  while (publisher_.windows_free() > 0) {
    std::vector<Candidate> candidates;
    for (auto& [id, opened] : sessions_) {
      const Batch* next = opened.session->next();
      if (next == nullptr) continue;
      candidates.push_back({.session = id,
                            .conflicts = opened.session->NextConflicts(),
                            .ready_items = next->program->ready_items,
                            .state_fits = publisher_.StateFits(*next->program)});
    }
    const std::optional<std::size_t> chosen =
        NextToPublish({.candidates = candidates,
                       .last_session = last_session_,
                       .windows_free = publisher_.windows_free(),
                       .ready_free = publisher_.ready_free()});
    if (!chosen) return;
    last_session_ = candidates[*chosen].session;
    publisher_.Publish(sessions_.at(last_session_).session->TakeNext());
    residence_.BatchPublished(now);
    step_.worked = true;
  }
}

absl::Status Core::MoveWorker(Time now) {
  for (;;) {
    switch (residence_.Next(now)) {
      case Residence::Action::kNothing:
        return absl::OkStatus();
      case Residence::Action::kPublishPark:
        publisher_.PublishPark();
        break;
      case Residence::Action::kLaunch:
        if (absl::Status launched = device_.worker().Launch(memory_.state, residence_.launches());
            !launched.ok()) {
          return launched;
        }
        break;
    }
    step_.worked = true;
  }
}

void Core::AnswerDrops() {
  const auto is_free = [this](const ProgramDrop& drop) {
    if (!drop.program.expired()) return false;
    Answer(drop.ticket, absl::OkStatus());
    return true;
  };
  program_drops_.erase(std::remove_if(program_drops_.begin(), program_drops_.end(), is_free),
                       program_drops_.end());
}

void Core::FinishClosing() {
  for (auto opened = sessions_.begin(); opened != sessions_.end();) {
    const bool done = opened->second.closing && opened->second.session->idle() &&
                      releases_.CountOf(opened->first) == 0;
    if (!done) {
      ++opened;
      continue;
    }
    if (opened->second.ticket) {
      Answer(*opened->second.ticket, std::move(opened->second.close_status));
    }
    opened = sessions_.erase(opened);
  }
}

void Core::FinishStopping() {
  if (!stopping_ || stopped_ || !sessions_.empty() || !residence_.parked()) return;
  stopped_ = true;
  if (stop_ticket_) Answer(*stop_ticket_, absl::OkStatus());
}

absl::Status Core::CheckHealth(Time now) {
  const abi::Heartbeat heart = publisher_.heartbeat();
  if (heart.clock_ns != last_beat_ns_) {
    last_beat_ns_ = heart.clock_ns;
    last_beat_seen_ = now;
  }
  return watchdog_.Check({.progress = heart.progress,
                          .clock_ns = heart.clock_ns,
                          .batches_completed = publisher_.completed(),
                          .launches_finished = residence_.finished(),
                          .batches_running = publisher_.running(),
                          .leaving = residence_.leaving()},
                         now);
}

void Core::Answer(Ticket ticket, absl::Status status) {
  step_.finished.push_back({.ticket = ticket, .status = std::move(status)});
}

Counters Core::counters(Time now) {
  Counters counters;
  counters.worker_launches = residence_.launches();
  counters.worker_parks = residence_.finished();
  counters.worker_resident = residence_.finished() < residence_.launches();
  counters.batches = totals_;
  counters.batches_in_flight = publisher_.running();
  counters.arena_bytes_used = programs_.arena().used() + publisher_.states().used();
  counters.arena_bytes_total = programs_.arena().total() + publisher_.states().total();
  counters.releases_pending = releases_.count();
  for (const auto& [id, opened] : sessions_) counters.batches_queued += opened.session->waiting();
  for (const SessionCounters& session : session_counters()) {
    ++counters.sessions;
    counters.segments += session.segments;
    counters.segment_bytes += session.segment_bytes;
    counters.programs += session.programs;
  }
  if (counters.worker_resident && publisher_.heartbeat().clock_ns == last_beat_ns_) {
    counters.heartbeat_age_us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now - last_beat_seen_).count());
  }
  return counters;
}

std::vector<SessionCounters> Core::session_counters() const {
  std::vector<SessionCounters> all;
  for (const auto& [id, opened] : sessions_) {
    if (id == kOwnSession) continue;
    const Session& session = *opened.session;
    all.push_back({.session = id,
                   .segments = session.segments(),
                   .segment_bytes = session.counters().segment_bytes,
                   .programs = session.programs(),
                   .batches_submitted = session.counters().batches_submitted,
                   .batches_completed = session.counters().batches_completed});
  }
  return all;
}

}  // namespace gpuos::executor
