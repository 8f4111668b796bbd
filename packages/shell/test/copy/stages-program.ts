// Run as a program, in namespaces of a test's own: how a workspace is staged that grows beyond what is copied.
import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StageUnavailable } from "@gennai/stage/transaction/stage-error";
import { Stages } from "#stages/stages";
import { StageFixture } from "../../../stage/test/stage-fixture.ts";

const [stateDir = "", root = ""] = process.argv.slice(2);
const { machine, home } = new StageFixture({}, { base: dirname(root), name: basename(root) });
await using stages = new Stages({ shell: { machineFor: () => machine }, stateDir, home });
const nothing = { sha256: "", covers: () => false };
const said: string[] = [];

async function look(): Promise<void> {
  const support = await stages.support(root);
  said.push(support.state === "staged" ? `staged: ${support.noOverlay?.obstacle}` : support.obstacle);
  try {
    const { stage } = await stages.stage(root, nothing);
    await stage.close();
    said.push("runs");
  } catch (error) {
    if (!(error instanceof StageUnavailable)) throw error;
    said.push(`throws: ${error.obstacle}`);
  }
}

const large = join(root, "large");
await look();
writeFileSync(large, "");
truncateSync(large, 600 * 1024 * 1024);
await look();
await look();
rmSync(large);
await look();
process.stdout.write(JSON.stringify(said));
