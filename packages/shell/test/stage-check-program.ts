// Run as a program, in namespaces of a test's own: prints what the doctor finds about stages.
import { stageFinding } from "#stage-check";

const [stateDir = "", workspace = ""] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await stageFinding(workspace, stateDir)));
