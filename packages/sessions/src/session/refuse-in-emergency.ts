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
  if (verdict.type === "allow") return;
  throw new ServiceError("permission_denied", `${act}: ${verdict.finding.reason}`, {
    reason: verdict.finding.code,
    ...(verdict.finding.hint === undefined ? {} : { hint: verdict.finding.hint }),
  });
}
