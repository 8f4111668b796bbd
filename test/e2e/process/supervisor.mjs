// Runs a program and ends it, with all it started, as soon as standard input closes: also when the person who runs this was killed.
// Plain JavaScript: also a Node that reads no TypeScript runs it.
import { spawn } from "node:child_process";

const GRACE_MS = 3000;

const [program = "", ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"] });
child.once("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  killGroup();
});
let isEnding = false;
child.once("exit", (code, signal) => {
  if (!isEnding) process.stderr.write(`${program} ended by itself: ${signal ?? `exit code ${code}`}\n`);
  killGroup();
});
process.on("SIGTERM", () => undefined);
process.stdin.on("error", end).once("close", end).resume();

function end() {
  isEnding = true;
  process.kill(-process.pid, "SIGTERM");
  setTimeout(killGroup, GRACE_MS);
}

/** This process leads the group: it goes with it. */
function killGroup() {
  process.kill(-process.pid, "SIGKILL");
}
