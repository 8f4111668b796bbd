// Machines of a team: each has a home, the sample, and, where this run has root, an /etc/gennai of its own.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { inRepository } from "../../scripts/lib/repository.mjs";

/** A command in a mount namespace where this directory lies over /etc. @param {string} etc @param {string[]} command */
function withEtc(etc, command) {
  return [
    "unshare",
    "-m",
    "sh",
    "-c",
    'mount -t overlay overlay -o "lowerdir=$0:/etc" /etc && exec "$@"',
    etc,
    ...command,
  ];
}

/** Whether this run may give a machine its own files of root. @param {string} home */
export function canHaveRoot(home) {
  const [program = "", ...args] = withEtc(home, ["true"]);
  return process.getuid?.() === 0 && spawnSync(program, args).status === 0;
}

/**
 * @param {object} about
 * @param {string} about.home where it is made
 * @param {string} about.workspace what is copied into its home
 * @param {Readonly<Record<string, string>>} about.files texts by their paths in the home; only its user reads them
 * @param {string | undefined} about.policy of root; undefined: none
 * @param {(text: string) => string} about.toShown output in the words of the page
 */
export function machine({ home, workspace, files, policy, toShown }) {
  const colours = join(home, "colours");
  cpSync(workspace, colours, { recursive: true });
  /** @param {string} path @param {string} content @param {number} mode */
  const write = (path, content, mode) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content, { mode });
  };
  for (const [path, content] of Object.entries(files)) write(path, content, 0o600);
  const program = `#!/bin/sh\nexec '${process.execPath}' '${inRepository("scripts", "start.mjs")}' "$@"\n`;
  write("bin/gennai", program, 0o755);
  if (policy !== undefined) write("etc/gennai/policy.yaml", policy, 0o644);
  const { XDG_CONFIG_HOME: _config, XDG_STATE_HOME: _state, GENNAI_STATE_DIR: _own, ...others } = process.env;
  const env = { ...others, HOME: home, NO_COLOR: "1", INIT_CWD: colours, PATH: `${join(home, "bin")}:${others.PATH}` };

  /** Starts a line of the shell. @param {string} line */
  const start = (line) => {
    const command = ["sh", "-c", `exec 2>&1\n${line}`];
    const [first = "", ...args] = policy === undefined ? command : withEtc(join(home, "etc"), command);
    const child = spawn(first, args, { cwd: colours, env, stdio: ["pipe", "pipe", "inherit"] });
    return { child, ended: new Promise((resolve) => child.once("close", resolve)) };
  };
  return {
    home,
    /**
     * Runs a line to its end, and shows both.
     * @param {string} line @param {"open" | "closed"} input open: nobody types, but somebody could
     * @returns {Promise<{ code: number, output: string }>}
     */
    async run(line, input = "closed") {
      const { child, ended } = start(line);
      if (input === "closed") child.stdin.end();
      const output = toShown((await text(child.stdout)).replaceAll(home, "/home/you"));
      process.stdout.write(`$ ${line}\n${output}`);
      return { code: Number(await ended), output };
    },
    /** Starts a server, and ends it when asked. @param {string} line */
    async serve(line) {
      const { child, ended } = start(`exec ${line}`);
      let output = "";
      for await (const part of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
        output += part;
        if (output.includes("Stop with Ctrl-C.")) break;
      }
      child.stdout.resume();
      return async () => {
        child.kill("SIGTERM");
        await ended;
      };
    },
  };
}
