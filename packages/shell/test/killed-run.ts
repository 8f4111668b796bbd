import { stagingMachine } from "./staging-machine.ts";

// Runs a command of session `s`, keeps what it did, and is killed.
const [workspaceRoot = "", stateDir = "", home = "", text = ""] = process.argv.slice(2);
const machine = await stagingMachine(stateDir, {}, process.env["PATH"], home);
await (await machine.run(workspaceRoot, text, false, "s")).keep(new Set());
process.kill(process.pid, "SIGKILL");
