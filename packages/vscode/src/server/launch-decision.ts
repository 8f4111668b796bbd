import { isAbsolute } from "node:path";
import type { AutoLaunch } from "../settings/settings.ts";
import type { ServerProblem } from "./server-problem.ts";

export interface LaunchFacts {
  readonly trusted: boolean;
  readonly hasFolder: boolean;
  readonly autoLaunch: AutoLaunch;
  /** `gennai.baseUrl`; empty: the server is one of this machine. */
  readonly baseUrl: string;
  /** `gennai.serverCommand`; empty: the server in the extension. */
  readonly serverCommand: string;
  /** True if the user has just asked for the start. */
  readonly asked: boolean;
  /** True if the user has already declined in this window. */
  readonly declined: boolean;
}

export type LaunchDecision =
  | { readonly type: "launch" | "offer" | "leave" }
  | { readonly type: "refuse"; readonly problem: ServerProblem };

/** Whether to start a server if none runs. Nothing is ever started in an untrusted workspace. */
export function decideLaunch(facts: LaunchFacts): LaunchDecision {
  if (!facts.trusted) return { type: "refuse", problem: { type: "untrusted" } };
  if (!facts.hasFolder) return { type: "refuse", problem: { type: "no-folder" } };
  if (facts.baseUrl !== "") {
    return refuse("gennai.baseUrl names a server that only you can start. Start it there, or leave the setting empty.");
  }
  if (facts.serverCommand !== "" && !isAbsolute(facts.serverCommand)) {
    return refuse(
      `gennai.serverCommand must be an absolute path, not ${JSON.stringify(facts.serverCommand)}: a relative one could be a file of the workspace.`,
    );
  }
  if (facts.asked || facts.autoLaunch === "always") return { type: "launch" };
  return { type: facts.autoLaunch === "never" || facts.declined ? "leave" : "offer" };
}

function refuse(reason: string): LaunchDecision {
  return { type: "refuse", problem: { type: "launch-refused", reason } };
}
