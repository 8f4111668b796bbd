import { sha256Hex } from "@gennai/protocol/digest";
import type { GuardedFormat } from "./guarded-file.ts";
import type { HookProgram } from "./hook-program.ts";

/** A file of ours alone, in a directory from which an agent loads plugins. */
export function guardPlugin(agent: string, program: HookProgram, body: string): GuardedFormat {
  const source = pluginSource(agent, program, body);
  const holdsOurs = (text: string): boolean => ours.exec(text)?.[1] === agent;
  return {
    holdsOurs,
    startsAnother: (text) => holdsOurs(text) && text !== source,
    amiss: (text) => (text === source ? [] : ["the whole file"]),
    withOurs(text) {
      if (text !== "" && !holdsOurs(text)) throw new Error("it was not written by Gennai");
      return source;
    },
    // A file with this first line has nothing of others in it.
    withoutOurs: () => undefined,
    surroundings: () => ({ off: [], problems: [], foreign: [] }),
  };
}

const ours =
  /^\/\/ Written by `gennai guard install ([a-z-]+)`, and taken away by `gennai guard uninstall \1`\. [0-9a-f]{64}\n/;

function pluginSource(agent: string, { environment, words }: HookProgram, body: string): string {
  const code = `import { spawn } from "node:child_process";

const environment = ${JSON.stringify(environment)};
const words = ${JSON.stringify(words)};
${telling}
${body}`;
  const first = `// Written by \`gennai guard install ${agent}\`, and taken away by \`gennai guard uninstall ${agent}\`. ${sha256Hex(code)}`;
  return `${first}\n${code}`;
}

/** Plain JavaScript: it must run in Bun, in Node and through TypeScript loaders. */
const telling = String.raw`
// Asks the gate. Undefined: nothing speaks against the call. Rejects where nobody could judge it: then it must not run.
function tell(payload, project) {
  return new Promise((resolve, reject) => {
    const told = { GENNAI_GUARD_PROJECT: environment.GENNAI_GUARD_PROJECT || project };
    const hook = spawn(words[0], words.slice(1), {
      cwd: project,
      env: { ...process.env, ...environment, ...told },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const late = setTimeout(() => hook.kill("SIGKILL"), 45_000);
    let said = "";
    let complained = "";
    hook.stdout.setEncoding("utf8").on("data", (text) => (said += text));
    hook.stderr.setEncoding("utf8").on("data", (text) => (complained += text));
    // A hook that never reads is told by its exit code.
    hook.stdin.on("error", () => undefined);
    hook.on("error", (error) => {
      clearTimeout(late);
      reject(new Error("Gennai guards this agent and its hook cannot be started: " + error.message));
    });
    hook.on("close", (code) => {
      clearTimeout(late);
      if (code !== 0) return reject(new Error(complained.trim() || "Gennai's hook failed (" + code + ")."));
      try {
        resolve(said.trim() === "" ? undefined : JSON.parse(said));
      } catch {
        reject(new Error("Gennai's hook answered something that cannot be read."));
      }
    });
    hook.stdin.end(JSON.stringify(payload));
  });
}
`;
