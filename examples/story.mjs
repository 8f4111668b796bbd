// What the examples share: a temporary home with a copy of the sample, and a way to run gennai there.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const examples = dirname(fileURLToPath(import.meta.url));
const start = join(examples, "..", "scripts", "start.mjs");

/**
 * @typedef {object} Story
 * @property {string} workspace a git repository on `main`, in the home directory
 * @property {string} configuration where the user's own files of Gennai lie
 * @property {(text: string) => void} say tells the reader
 * @property {(place: string, text: string) => void} write writes a file that only the user can change
 * @property {(...args: string[]) => Ended} gennai runs a command to its end
 * @property {(input: string, ...args: string[]) => Ended} feedGennai the same, with this on its standard input
 * @property {(answer: string, ...args: string[]) => Promise<Ended>} answerGennai the same, with this answer to each question
 * @property {(token: string) => Promise<{ readonly url: string } & AsyncDisposable>} serve starts a server with this token
 * @property {(holds: boolean, what: string, output?: string) => void} expect ends the story unless `what` holds
 */

/** @typedef {{ readonly code: number, readonly stdout: string, readonly output: string }} Ended `output` has standard error, too */

/** Tells a story; ends the process with 1 and the reason when something in it is not as it should be. @param {(story: Story) => unknown} tell */
export async function story(tell) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "gennai-example-")));
  const workspace = join(home, "colours");
  const configuration = join(home, ".config", "gennai");
  mkdirSync(configuration, { recursive: true, mode: 0o700 });
  cpSync(join(examples, "sample-workspace"), workspace, { recursive: true });
  git(["init", "--quiet", "--initial-branch", "main"], workspace);
  git(["add", "--all"], workspace);
  const you = ["-c", "user.name=You", "-c", "user.email=you@example.org"];
  git([...you, "commit", "--quiet", "--message", "As it was"], workspace);
  const { XDG_CONFIG_HOME: _config, XDG_STATE_HOME: _state, GENNAI_STATE_DIR: _own, ...others } = process.env;
  const env = { ...others, HOME: home, NO_COLOR: "1" };
  const options = { cwd: workspace, env: { ...env, INIT_CWD: workspace } };
  /** @param {string} input @param {string[]} args */
  const gennai = (input, args) => {
    const ended = spawnSync(process.execPath, [start, ...args], { ...options, input, encoding: "utf8" });
    return { code: ended.status ?? 1, stdout: ended.stdout, output: ended.stdout + ended.stderr };
  };
  try {
    await tell({
      workspace,
      configuration,
      say: (text) => void process.stdout.write(`${text}\n`),
      write(place, text) {
        mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
        writeFileSync(place, text, { mode: 0o600 });
      },
      gennai: (...args) => gennai("", args),
      feedGennai: (input, ...args) => gennai(input, args),
      answerGennai: (answer, ...args) => answerGennai(answer, args, options),
      serve: (token) => serve(token, options),
      expect(holds, what, output = "") {
        if (!holds) throw new Error(`This does not hold any more: ${what}\n${output}`);
        process.stdout.write(`  holds: ${what}\n`);
      },
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** @param {string} answer @param {string[]} args @param {{ cwd: string, env: NodeJS.ProcessEnv }} options @returns {Promise<Ended>} */
async function answerGennai(answer, args, options) {
  const child = spawn(process.execPath, [start, ...args, "--ask"], options);
  let stdout = "";
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output += text;
    // Only what comes after the question is an answer to it.
    if (output.endsWith("> ")) child.stdin.write(`${answer}\n`);
  });
  const code = await new Promise((resolve) => child.once("close", (ended) => resolve(ended ?? 1)));
  return { code, stdout, output };
}

/**
 * A server of the workspace on a free port, which ends when it is disposed.
 * @param {string} token @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 */
async function serve(token, { cwd, env }) {
  const child = spawn(process.execPath, [start, "serve", "--port", "0", "--workspace", cwd], {
    env: { ...env, GENNAI_AUTH_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let output = "";
  for await (const text of child.stdout.setEncoding("utf8")) {
    output += text;
    const url = /listening on (\S+)/.exec(output)?.[1];
    if (url === undefined) continue;
    return {
      url,
      async [Symbol.asyncDispose]() {
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  throw new Error(`The server did not start:\n${output}`);
}

/** @param {string[]} args @param {string} cwd */
function git(args, cwd) {
  const { status, stderr } = spawnSync("git", args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
}
