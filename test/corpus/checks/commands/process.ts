import assert from "node:assert/strict";
import { startTestServer } from "@gennai/testkit/test-server";
import { runTurn, startSession } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check, notApplicable } from "../../corpus-case.ts";

const hello = { match: ".", steps: [{ text: ["Hello."] }] };

const soak = notApplicable("A soak of ten thousand turns takes longer than tests may; benchmarks watch memory.");

export const processChecks: Checks = {
  "PRC-017": notApplicable("It is about the editor's extension, which is not part of this release."),
  "PRC-021": notApplicable("A test cannot put the machine to sleep."),
  "PRC-022": notApplicable("A test may not set the machine's clock; SES-023 checks that clients' clocks do not count."),
  "PRC-023": check(async () => {
    const zone = process.env["TZ"];
    process.env["TZ"] = "Pacific/Auckland";
    try {
      await using server = await startTestServer({ script: [hello] });
      const sessionId = await startSession(server);
      const { items } = await server.client.writeTodos({ sessionId, items: [{ content: "a" }] });
      assert.match(items[0]?.created ?? "", /Z$/);
      for (const { time } of await runTurn(server, sessionId, "go")) {
        assert.ok(Math.abs(Number(time?.seconds ?? 0n) * 1000 - Date.now()) < 60_000);
      }
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  }),
  "PRC-027": soak,
};
