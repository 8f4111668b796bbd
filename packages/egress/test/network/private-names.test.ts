import { publicAddress, TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { AskedProxy } from "./asked-proxy.ts";

const agreed = { host: "db.corp", port: 80, address: "10.0.0.5" };

async function reached(leads: readonly string[]) {
  using outside = new TestOutside();
  await outside.pages("db.corp", 80, () => ({ body: "public" }));
  await outside.pages("db.corp", 80, () => ({ body: "private" }), "10.0.0.5");
  outside.names.set("db.corp", leads);
  using proxy = await AskedProxy.open(outside, [agreed]);
  const page = await proxy.get("http://db.corp/");
  return { page, reached: outside.reached, connections: proxy.connections };
}

test("a yes for a private address is for that one", async () => {
  const { page, connections } = await reached(["10.0.0.5"]);
  expect(page).toContain("private");
  expect(connections).toMatchObject([{ state: "allowed", address: "10.0.0.5" }]);
});

test.for([[[publicAddress]], [["10.0.0.6"]], [[publicAddress, "10.0.0.6"]], [["::ffff:10.0.0.6"]]])(
  "and opens none of %s",
  async ([leads = []]) => {
    const { reached: addresses, connections } = await reached(leads);
    expect(addresses).toEqual([]);
    expect(connections).toMatchObject([{ state: "refused" }]);
  },
);

test("and of several, only that one", async () => {
  const { reached: addresses } = await reached([publicAddress, "10.0.0.5"]);
  expect(addresses).toEqual(["10.0.0.5:80"]);
});
