import { isAbsolute } from "node:path";

export type AutoLaunch = "ask" | "always" | "never";

export interface LaunchFacts {
  readonly trusted: boolean;
  readonly hasFolder: boolean;
  readonly autoLaunch: AutoLaunch;
  /** `gennai.baseUrl`; empty: the server is one of this machine. */
  readonly baseUrl: string;
  /** `gennai.serverCommand`; empty: the server that the extension brings. */
  readonly serverCommand: string;
  /** True when the user asked for the start just now. */
  readonly asked: boolean;
  /** True when the user declined in this window already. */
  readonly declined: boolean;
}

export type LaunchDecision =
  | { readonly type: "launch" | "offer" | "leave" }
  | { readonly type: "refuse"; readonly reason: string };

/** Whether a server that does not run is started. Nothing is ever started in an untrusted workspace. */
export function decideLaunch(facts: LaunchFacts): LaunchDecision {
  if (!facts.trusted) return refuse("No server is started in a workspace that is not trusted. Trust it first.");
  if (!facts.hasFolder) return refuse("A server works on a folder. Open one first.");
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
  return { type: "refuse", reason };
}
