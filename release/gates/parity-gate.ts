import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Gate } from "./gate.ts";
import { installCommandLine, type ServedCommandLine } from "./installed-command-line.ts";
import { sampleRepository } from "./sample-repository.ts";
import { Steps } from "./steps.ts";

/** Two deployments of the packed command line are the same in all that an audit asks, and one with other rules is not. */
export const parityGate: Gate = {
  name: "audit-parity",
  title: "Two deployments of the packed command line are the same: version, protocol, policy, controls, program.",
  timeoutMs: 30 * 60_000,
  async run(context, { signal }) {
    const steps = new Steps(context.doing);
    const gennai = await installCommandLine(context, { signal });
    await using servers = new AsyncDisposableStack();
    // The digest of the rules holds for a place, so that all of them serve the same one.
    const workspace = await sampleRepository(join(context.scratch, "workspace"), { env: gennai.env, signal });
    const deploy = async (name: string, ...args: readonly string[]) => {
      const token = randomBytes(32).toString("base64url");
      const environment = { GENNAI_STATE_DIR: join(context.scratch, `${name}-state`), GENNAI_AUTH_TOKEN: token };
      const server = await gennai.serve(["--workspace", workspace, "--backend", "offline", ...args], environment);
      return { server: servers.use(server), token };
    };
    const compare = (one: Deployed, other: Deployed) =>
      gennai.run(["doctor", "--compare", one.server.url, other.server.url], {
        GENNAI_AUTH_TOKEN_1: one.token,
        GENNAI_AUTH_TOKEN_2: other.token,
      });
    const [one, other, stricter] = [
      await deploy("one"),
      await deploy("other"),
      await deploy("stricter", "--protect", "release"),
    ];
    await steps.check("two deployments", async () => {
      const { code, output } = await compare(one, other);
      steps.note(output);
      if (code !== 0) throw new Error(`gennai doctor --compare ended with ${code}:\n${output}`);
      return output
        .trim()
        .split("\n")
        .slice(-2)
        .map((line) => line.trim())
        .join("; ");
    });
    await steps.check("one that protects another branch is seen", async () => {
      const { code, output } = await compare(one, stricter);
      steps.note(output);
      if (code !== 1 || !output.includes("DIFF")) throw new Error(`It ended with ${code}:\n${output}`);
      return (
        output
          .split("\n")
          .find((line) => line.includes("DIFF"))
          ?.replaceAll(/\s+/g, " ") ?? ""
      );
    });
    return steps.findings();
  },
};

interface Deployed {
  readonly server: ServedCommandLine;
  readonly token: string;
}
