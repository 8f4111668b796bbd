import type { SessionView } from "@gennai/client/view/session-view";
import { parsedJson } from "@gennai/protocol/json-value";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import * as z from "zod";
import { relativeTo } from "./ci-policy.ts";

/** A call that was not allowed to run, or was refused a connection while it ran. Texts are written or masked by the server. */
export interface Refusal {
  readonly tool: string;
  /** Id of the rule, e.g. `floor/git-loss`. */
  readonly rule: string;
  readonly risk: Risk;
  /** True if a rule asked, and neither a user nor the policy answered. */
  readonly unanswered: boolean;
  /** Why, as the model was told. */
  readonly reason: string;
  /** What was tried, e.g. a command; empty where the server did not say. */
  readonly words: string;
  /** Relative to the workspace, with slashes: the file that the call was about. */
  readonly path: string | undefined;
  /** `file:line` of the rule; empty for one that is built in. */
  readonly place: string;
}

const maxRefusals = 1_000;
const aboutFile = z.union([
  z.looseObject({ file_path: z.string() }).transform(({ file_path }) => file_path),
  z.looseObject({ path: z.string() }).transform(({ path }) => path),
]);

/** The refusals of a session, sub-agents' too. @param workspace real path */
export function refusalsOf(session: SessionView, workspace: string): readonly Refusal[] {
  return session.cells
    .flatMap(({ item }): Refusal[] => {
      const call = item.peek();
      if (call.kind !== "tool-call" || call.result?.failureClass !== "permission_denied") return [];
      const { name: tool, decision, violation, result } = call;
      return [
        {
          tool,
          rule: decision?.rule ?? "gate",
          risk: decision?.risk ?? "low",
          unanswered: decision?.verdict === "ask",
          reason: result.error === "" ? (decision?.reason ?? "") : result.error,
          words: violation?.words ?? "",
          path: pathIn(call.argumentsJson, workspace),
          place: violation?.place ?? "",
        },
      ];
    })
    .slice(0, maxRefusals);
}

function pathIn(argumentsJson: string, workspace: string): string | undefined {
  const { data } = aboutFile.safeParse(parsedJson(argumentsJson));
  return data === undefined ? undefined : relativeTo(workspace, data);
}
