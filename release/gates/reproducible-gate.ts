import { join } from "node:path";
import { published } from "../release-record.ts";
import { sourceState } from "../source-state.ts";
import type { Gate } from "./gate.ts";
import { runProgram } from "./run-program.ts";
import { Steps } from "./steps.ts";

/** Builds the same commit once more, in a fresh clone that lies elsewhere, and compares the checksums. */
export const reproducibleGate: Gate = {
  name: "reproducible",
  title: "A fresh clone of the commit, in another directory, gives the same bytes.",
  timeoutMs: 30 * 60_000,
  async run({ root, directory, scratch, doing }, { signal }) {
    const steps = new Steps(doing);
    const { commit } = sourceState(root);
    const clone = join(scratch, "another place");
    const again = join(scratch, "again");
    const must = async (program: string, ...args: readonly string[]) => {
      doing(() => `${program} ${args.join(" ")}`);
      const { code, output } = await runProgram(program, args, { cwd: program === "git" ? root : clone, signal });
      steps.note(output);
      if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${output.slice(-2000)}`);
    };
    await must("git", "clone", "--quiet", "--no-hardlinks", root, clone);
    await must("git", "-C", clone, "checkout", "--quiet", "--detach", commit);
    await must("npm", "run", "--silent", "release", "--", "--out", again);
    await steps.check("checksums", () => {
      const [one = [], other = []] = [directory, again].map((each) => published(each).subject);
      const sums = new Map(other.map(({ name, digest }) => [name, digest.sha256]));
      const different = one.filter(({ name, digest }) => sums.get(name) !== digest.sha256).map(({ name }) => name);
      if (different.length > 0 || one.length !== other.length)
        throw new Error(`These came out otherwise: ${different.join(", ") || "names"}.`);
      return `${one.length} artefacts of ${commit.slice(0, 12)} are the same`;
    });
    return steps.findings();
  },
};
