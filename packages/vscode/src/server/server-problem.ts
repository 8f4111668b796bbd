/** Why no server can be used. */
export type ServerProblem =
  | { readonly type: "not-running"; readonly url: string; readonly reason: string }
  | { readonly type: "stranger"; readonly url: string }
  | { readonly type: "token-missing"; readonly url: string }
  | { readonly type: "token-wrong"; readonly url: string }
  | { readonly type: "server-old"; readonly url: string; readonly version: string }
  | { readonly type: "server-new"; readonly url: string; readonly version: string }
  | { readonly type: "server-weak"; readonly url: string; readonly problem: string }
  | { readonly type: "launch-failed"; readonly command: string; readonly exitCode: number | undefined }
  | { readonly type: "launch-ended"; readonly wrote: string }
  | { readonly type: "no-node"; readonly chosen: string }
  | { readonly type: "launch-refused"; readonly reason: string }
  | { readonly type: "untrusted" }
  | { readonly type: "no-folder" }
  | { readonly type: "bad-url"; readonly url: string }
  | { readonly type: "call-failed"; readonly url: string; readonly reason: string };

/** The action of a button below the message. */
export type ProblemStep =
  | "start-server"
  | "enter-token"
  | "open-settings"
  | "manage-trust"
  | "open-folder"
  | "install-node"
  | "choose-node"
  | "show-log";

export interface ProblemText {
  /** One or two sentences: what is wrong, and what to do. */
  readonly message: string;
  readonly steps: readonly ProblemStep[];
}

/** The text about a problem, for people. */
export function describeProblem(problem: ServerProblem): ProblemText {
  switch (problem.type) {
    case "not-running":
      return {
        message: `No Gennai server answers at ${problem.url}. Start it, or set gennai.serverPort to the port it listens on.`,
        steps: ["start-server", "open-settings"],
      };
    case "stranger":
      return {
        message: `No current Gennai server listens at ${problem.url}: another program took the port, or the server is too old. Stop it, update it, or choose another port in gennai.serverPort.`,
        steps: ["open-settings", "show-log"],
      };
    case "token-missing":
      return {
        message: `The server at ${problem.url} asks for its token. When the server was started, it printed where its token is.`,
        steps: ["enter-token", "open-settings"],
      };
    case "token-wrong":
      return {
        message: `The server at ${problem.url} knows another token than this window. Enter the one it was started with.`,
        steps: ["enter-token", "show-log"],
      };
    case "server-old":
      return {
        message: `The server at ${problem.url} (version ${problem.version}) is too old for this extension. Update it and start it again.`,
        steps: ["start-server", "show-log"],
      };
    case "server-new":
      return {
        message: `The server at ${problem.url} (version ${problem.version}) is newer than this extension understands. Update the extension.`,
        steps: ["show-log"],
      };
    case "server-weak":
      return {
        message: `The server at ${problem.url} ${problem.problem} Your settings require it: start that server with --commands staged.`,
        steps: ["open-settings", "show-log"],
      };
    case "launch-failed":
      return {
        message: `\`${problem.command}\` ${
          problem.exitCode === undefined ? "did not start a server in time" : `ended with exit code ${problem.exitCode}`
        }. Its terminal says why; if the program was not found, set gennai.serverCommand to its absolute path.`,
        steps: ["open-settings", "show-log"],
      };
    case "launch-ended":
      return {
        message: `The Gennai server did not start: ${lastWords(problem.wrote) || "it printed nothing in time"}. The log has all that it wrote.`,
        steps: ["start-server", "show-log"],
      };
    case "no-node":
      return problem.chosen === ""
        ? {
            message:
              "Gennai's server runs on Node 22.13 or newer, and this machine has none. Install it, then start again.",
            steps: ["install-node", "choose-node", "start-server"],
          }
        : {
            message: `gennai.nodePath is no Node that is 22.13 or newer: ${problem.chosen}. Name another, or leave it empty.`,
            steps: ["choose-node", "start-server"],
          };
    case "launch-refused":
      return { message: problem.reason, steps: ["open-settings"] };
    case "untrusted":
      return {
        message: "Gennai does nothing in a workspace that is not trusted. Trust it to begin a session.",
        steps: ["manage-trust"],
      };
    case "no-folder":
      return { message: "Gennai works on a folder on disk. Open one to begin a session.", steps: ["open-folder"] };
    case "bad-url":
      return {
        message: `gennai.baseUrl is not an http or https address: ${JSON.stringify(problem.url)}. Correct it, or leave it empty for the server on this machine.`,
        steps: ["open-settings"],
      };
    case "call-failed":
      return {
        message: `The server at ${problem.url} could not be used: ${problem.reason}`,
        steps: ["start-server", "show-log"],
      };
  }
}

/** The last error with its next steps, else the last line; without a full stop, because one follows. */
function lastWords(text: string): string {
  const lines = text.trim().split("\n");
  const words = lines.slice(lines.findLastIndex((line) => line.startsWith("error: "))).map((line) => line.trim());
  return words.join(" ").replace(/^error: |\.$/g, "");
}

/** All that is known, to paste into a report. Contains no token. */
export function problemDetails(problem: ServerProblem, facts: Readonly<Record<string, string>>): string {
  const lines = [describeProblem(problem).message, "", `problem: ${JSON.stringify(problem)}`];
  for (const [name, value] of Object.entries(facts)) lines.push(`${name}: ${value}`);
  return lines.join("\n");
}

/** No server can be used. */
export class NoServerError extends Error {
  override readonly name = "NoServerError";
  readonly code = "no_server";
  readonly problem: ServerProblem;

  constructor(problem: ServerProblem) {
    super(describeProblem(problem).message);
    this.problem = problem;
  }
}
