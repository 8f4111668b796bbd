import { existsSync } from "node:fs";
import { packageRegistry } from "@gennai/testkit/package-registry";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { keptText } from "./kept-text.ts";

afterEach(() => vi.unstubAllEnvs());

test("a private registry: the network by question, then 401, then the login by a question of its own", async () => {
  const token = "npm_correcthorsebattery";
  using registry = await packageRegistry(token);
  const address = `http://127.0.0.1:${registry.port}/`;
  await using home = await temporaryDirectory({
    ".npmrc": `registry=${address}\n//127.0.0.1:${registry.port}/:_authToken=${token}\n`,
  });
  vi.stubEnv("HOME", home.root);
  using outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${registry.port}`, registry.port);
  const commands = ["npm install dep", "npm install dep", "cat node_modules/dep/ran.txt"];
  await using server = await staging(commands, {}, {}, { outside });
  await using session = await AskedSession.start(server);

  const first = await session.turnWithYes();
  expect(first.questions.map(({ computed }) => computed?.rule).includes("keys/use")).toBe(false);
  expect(first.output).toContain("E401");
  expect(first.output).toContain(`[127.0.0.1:${registry.port} wants a login, and the user has one`);
  expect(registry.requests.every((request) => request.endsWith(" nobody"))).toBe(true);

  const second = await session.turnWithYes();
  expect(second.questions[0]?.computed?.rule).toBe("keys/use");
  expect(second.questions[0]?.impactStatement).toContain(address);
  expect(second.questions[0]?.computed?.reason).toContain(`the login of ~/.npmrc for //127.0.0.1:${registry.port}/`);
  expect(second.output).toContain("added 1 package");
  expect(registry.requests).toContain(`GET /dep/-/dep-1.0.0.tgz Bearer ${token}`);

  expect((await session.turnWithYes()).output).toMatch(/^ran proxy= \nno: ECONNREFUSED$/m);
  expect(registry.requests.filter((request) => request.includes("stolen"))).toEqual([]);
  // What was mounted in the run left no file behind.
  expect(existsSync(server.workspace.path(".npmrc"))).toBe(false);
  await server.running[Symbol.asyncDispose]();
  expect(keptText(server)).not.toContain(token);
});
