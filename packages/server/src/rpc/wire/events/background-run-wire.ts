import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BackgroundRunRecord } from "@gennai/agent/events/session-event";
import { BackgroundRunState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { BackgroundRunFacts } from "@gennai/sessions/background/background-run-facts";

export function backgroundRunToWire(run: BackgroundRunFacts) {
  const { startedAt, endedAt, isPartial } = run;
  return {
    ...backgroundRecordToWire(run),
    startedAt: timestampFromMs(startedAt),
    ...(endedAt === undefined ? {} : { endedAt: timestampFromMs(endedAt) }),
    partial: isPartial,
  };
}

/** A background run, as logged. */
export function backgroundRecordToWire({ id, command, end, exitCode, ports }: BackgroundRunRecord) {
  return {
    id,
    command,
    state: end === undefined ? BackgroundRunState.RUNNING : BackgroundRunState.ENDED,
    end: end ?? "",
    ports: ports.map(({ port, local }) => ({ port, localPort: local })),
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}
