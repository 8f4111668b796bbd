import { userInfo } from "node:os";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { ExpectedError } from "@gennai/machine/expected-error";
import type { EmergencyControl } from "@gennai/protocol/model/governance/emergency";
import { EmergencyHere } from "@gennai/sessions/rules/emergency-here";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { paintFor } from "../../terminal/colours.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { version } from "../../terminal/version.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { describeEmergency, type EmergencyTold } from "./emergency-report.ts";
import { switchOverServer } from "./switch-over-server.ts";

export interface EmergencyFlags {
  readonly workspace?: string;
  readonly reason?: string;
  readonly by?: string;
  readonly tool?: string;
  readonly json?: boolean;
}

/** Number of changes that are shown with the state. */
const shownChanges = 10;

/** `gennai emergency status` */
export async function emergencyStatusCommand(flags: EmergencyFlags, console: Console): Promise<ExitCode> {
  await using controls = await openControls(console);
  writeReport(controls.report(shownChanges), flags, console);
  return exitCode.ok;
}

/**
 * Switches a control: through a running server, which reports what it stopped, else in the store, which later servers read. A
 * server that does not answer is skipped, since it reads the store as well.
 */
export async function emergencySwitchCommand(
  control: EmergencyControl,
  state: string,
  flags: EmergencyFlags,
  console: Console,
): Promise<ExitCode> {
  if (state !== "on" && state !== "off") {
    throw usageError(
      `${control} takes on or off, not ${JSON.stringify(state)}.`,
      `gennai emergency ${control} on --reason "…"`,
    );
  }
  const enabled = state === "on";
  const reason = flags.reason?.trim() ?? "";
  if (!enabled && reason === "") {
    throw usageError("Say why it is lifted: it is recorded.", '--reason "…"');
  }
  const request = { control, enabled, tool: flags.tool ?? "", by: flags.by ?? userInfo().username, reason };
  const workspace = await resolveWorkspace(flags.workspace, console);
  await using controls = await openControls(console);
  const stopped = await switchOverServer(defaultStateDir(console.environment), request);
  if (stopped === undefined) await switchHere(controls, request, workspace);
  writeReport({ ...controls.report(1), ...(stopped === undefined ? {} : { stoppedTurnIds: stopped }) }, flags, console);
  return exitCode.ok;
}

async function switchHere(
  controls: EmergencyHere,
  request: Parameters<EmergencyHere["switch"]>[0],
  workspace: string,
): Promise<void> {
  try {
    if (await controls.switch(request, workspace)) return;
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code !== "invalid_argument") throw error;
    throw new CliError(error.message, {
      exitCode: exitCode.usage,
      next: error.hint === undefined ? [] : [error.hint],
      cause: error,
    });
  }
  throw new CliError("Somebody else switched this control on at the same moment, so it stays on.", {
    exitCode: exitCode.refused,
    next: ["gennai emergency status"],
  });
}

function openControls(console: Console): Promise<EmergencyHere> {
  return EmergencyHere.open(defaultStateDir(console.environment), {
    toolVersion: version,
    onWarning: (text) => void console.errors.write(`warning: ${text}\n`),
  });
}

function writeReport(report: EmergencyTold, flags: EmergencyFlags, console: Console): void {
  const text =
    flags.json === true
      ? JSON.stringify(report)
      : describeEmergency(report, paintFor(console.output, console.environment));
  console.output.write(`${text}\n`);
}
