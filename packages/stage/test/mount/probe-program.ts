// Run as a program, in namespaces of a test's own: prints what the probe says of a workspace.
import { mkdirSync } from "node:fs";
import { probeStage } from "#mount/probe-stage";
import { rootAt } from "../stage-fixture.ts";

const [stateDir = "", ...roots] = process.argv.slice(2);
mkdirSync(stateDir, { recursive: true });
process.stdout.write(JSON.stringify(await probeStage(stateDir, roots.map(rootAt))));
