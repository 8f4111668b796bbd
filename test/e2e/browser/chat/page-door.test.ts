import { join } from "node:path";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openContext } from "../page/open-context.ts";

/** The smallest app: it shows what it begins with, and calls the server when it is told to. */
const app = `
  import { createClient } from "@connectrpc/connect";
  import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
  import { connectPageHost } from "./hosts/page-host.ts";
  const home = await connectPageHost();
  const client = createClient(AgentService, home.transport);
  home.showsSession("session-of-" + home.launch.clientId);
  window.call = () => client.getServerInfo({}).then(({ version }) => version, String);
  window.launch = home.launch;
  document.querySelector("#app").textContent = "ready";
`;

let files: TemporaryDirectory;
beforeAll(async () => {
  files = await temporaryDirectory();
  const source = join(import.meta.dirname, "../../../../packages/repl/src");
  await build({
    stdin: { contents: app, resolveDir: source, loader: "ts" },
    outfile: files.path("repl.js"),
    bundle: true,
    format: "esm",
    logLevel: "error",
  });
  await build({ entryPoints: [join(source, "hosts/page-door.css")], outfile: files.path("repl.css") });
});
afterAll(() => files[Symbol.asyncDispose]());

async function scene() {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer({ server: { pageDirectory: files.root } }));
  const { context } = parts.use(await openContext());
  const complaints: string[] = [];
  context.on("console", (message) => {
    if (message.type() !== "log") complaints.push(message.text());
  });
  context.on("weberror", (error) => void complaints.push(error.error().message));
  const owned = parts.move();
  return {
    server,
    complaints,
    link: () => server.running.pageLink() ?? "",
    page: () => context.newPage(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const ready = (page: Page) => page.getByText("ready").waitFor();
const call = (page: Page) => page.evaluate<string>("call()");
const launch = (page: Page) => page.evaluate<{ clientId: string; sessionId?: string }>("launch");

test("the link opens the page, and nothing of it stays", async () => {
  await using on = await scene();
  const page = await on.page();
  await page.goto(on.link());
  await ready(page);
  expect(page.url()).toBe(`${on.server.url}/`);
  expect(await page.evaluate("history.length")).toBe(2);
  expect(await page.evaluate("[document.cookie, localStorage.length]")).toEqual(["", 0]);
  expect(await call(page)).toBe("0.0.0-test");

  const before = await launch(page);
  await page.reload();
  await ready(page);
  expect(await call(page)).toBe("0.0.0-test");
  expect(await launch(page)).toMatchObject({ clientId: before.clientId, sessionId: `session-of-${before.clientId}` });
  expect(on.complaints).toEqual([]);
});

test("a link opens once; another tab asks for one, and takes it", async () => {
  await using on = await scene();
  const link = on.link();
  const [first, second] = [await on.page(), await on.page()];
  await first.goto(link);
  await ready(first);
  await second.goto(link);
  const door = second.getByRole("dialog", { name: "This page needs a link" });
  expect(await door.getByRole("status").textContent()).toContain("used already");
  await second.keyboard.press("Escape");
  await door.getByLabel("Link").fill(on.link());
  await door.getByRole("button", { name: "Open" }).click();
  await ready(second);
  expect((await launch(second)).clientId).not.toBe((await launch(first)).clientId);
});

test("no other site can frame the page or load its files", async () => {
  await using on = await scene();
  const page = await on.page();
  await page.route("https://evil.example/", (route) =>
    route.fulfill({ contentType: "text/html", body: `<iframe src="${on.server.url}/"></iframe>` }),
  );
  await page.goto("https://evil.example/");
  const loads = await page.evaluate<string>(
    `fetch("${on.server.url}/assets/repl.js", { mode: "no-cors" }).then(() => "loaded", () => "refused")`,
  );
  expect(loads).toBe("refused");
  const framed = page.frames().find((frame) => frame !== page.mainFrame());
  expect(await framed?.evaluate(`document.querySelector("#app") === null`)).not.toBe(false);
});
