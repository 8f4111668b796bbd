import { ToolFailure } from "@gennai/governance/tool-error";
import type { Finding } from "@gennai/governance/verdict";
import { ServiceError } from "@gennai/machine/service-error";
import type { Session } from "./session.ts";

/**
 * An undo is a write: if the emergency controls forbid writes, it must wait until they are lifted. Throws `ServiceError` with
 * the code of the control.
 *
 * @param act what is refused, e.g. `Nothing was restored`
 * @param tool.outside what is written instead of the workspace; absolute
 */
export function refuseInEmergency(
  { id, services, workspace }: Pick<Session, "id" | "services" | "workspace">,
  act: string,
  tool: { readonly name: string; readonly statement: string; readonly outside?: string },
): void {
  const { outside } = tool;
  const path = { raw: ".", relative: "", absolute: outside ?? workspace.root, inside: outside === undefined };
  const write = { type: "write", operation: "update", path, base: undefined, current: undefined } as const;
  const verdict = services.emergency.standingCheck.check({
    callId: tool.name,
    toolName: tool.name,
    args: {},
    access: "change",
    analysis: { statement: tool.statement, effects: [write] },
    sessionId: id,
    turnId: "",
  });
  if (verdict.type !== "allow") throw refusedAct(act, verdict.finding);
}

/** What a rule refuses to a person, with the code of the rule. @param act what did not happen */
export function refusedAct(act: string, { code, reason, hint }: Finding): ServiceError {
  return new ServiceError("permission_denied", `${act}: ${reason}`, { reason: code, hint });
}

/** What a tool, or a stage, could not do for a person, who did it without a model. @param act what did not happen, if that is not said yet */
export function failedAct(error: unknown, act?: string, hint?: string): never {
  if (!(error instanceof ToolFailure)) throw error;
  const said = act === undefined ? {} : { reason: error.code };
  throw new ServiceError("failed_precondition", act === undefined ? error.message : `${act}: ${error.message}`, {
    ...said,
    hint: hint ?? error.hint,
    cause: error,
  });
}
