import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import type { McpServer } from "#mcp/mcp-config";
import { McpPins } from "#mcp/mcp-pins";

const serverOf = (name: string) =>
  ({ name, digest: `digest of ${name}`, origin: "workspace", runs: {} }) as unknown as McpServer;

test("of what is accepted at the same time all is kept, also beside what cannot be", async () => {
  await using state = await temporaryDirectory();
  const pins = new McpPins(state.root, "/workspace");
  const servers = Array.from({ length: 8 }, (_, number) => serverOf(`s${number}`));
  const broken = Object.defineProperty(serverOf("broken"), "digest", {
    get: () => {
      throw new Error("no digest");
    },
  });
  const accepted = await Promise.allSettled(
    [...servers.slice(0, 4), broken, ...servers.slice(4)].map((server) => pins.acceptServer(server)),
  );
  expect(accepted.filter(({ status }) => status === "rejected")).toHaveLength(1);
  const states = await Promise.all(servers.map((server) => pins.stateOfServer(server)));
  expect(states).toEqual(servers.map(() => "accepted"));
});

test("of two acceptances of one server the later counts", async () => {
  await using state = await temporaryDirectory();
  const pins = new McpPins(state.root, "/workspace");
  const [old, changed] = [serverOf("s"), { ...serverOf("s"), digest: "another" }];
  await pins.acceptServer(old);
  await pins.acceptServer(changed);
  expect(await Promise.all([old, changed].map((server) => pins.stateOfServer(server)))).toEqual([
    "changed",
    "accepted",
  ]);
});
