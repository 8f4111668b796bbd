import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { keptText } from "./kept-text.ts";
import { password } from "./services/git-host.ts";

afterEach(() => vi.unstubAllEnvs());

/** An index with one wheel, `dep`, for anyone who has the login. */
async function packageIndex() {
  await using directory = await temporaryDirectory({
    "make.py": `import zipfile
info = "dep-1.0.0.dist-info/"
with zipfile.ZipFile("dep-1.0.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("dep.py", "answer = 42\\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`,
  });
  execFileSync("python3", ["make.py"], { cwd: directory.root });
  const wheel = readFileSync(directory.path("dep-1.0.0-py3-none-any.whl"));
  const requests: string[] = [];
  const expected = `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === expected;
    requests.push(`${request.method} ${request.url} ${isKnown ? "me" : (request.headers.authorization ?? "nobody")}`);
    if (!isKnown) response.writeHead(401, { "WWW-Authenticate": 'Basic realm="pip"' }).end();
    else if (request.url?.endsWith(".whl") === true) response.end(wheel);
    else if (request.url === "/simple/dep/") {
      response.setHeader("Content-Type", "text/html");
      response.end(`<a href="../../dep-1.0.0-py3-none-any.whl">dep-1.0.0-py3-none-any.whl</a>`);
    } else response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return { port, requests, [Symbol.dispose]: () => void server.close() };
}

test("pip in another way than a plain install: the login is added to what it reads, and pip itself has none", async () => {
  using index = await packageIndex();
  const address = `http://127.0.0.1:${index.port}/simple/`;
  await using home = await temporaryDirectory({
    ".config/pip/pip.conf": `[global]\nindex-url = http://me:${password}@127.0.0.1:${index.port}/simple/\n`,
  });
  vi.stubEnv("HOME", home.root);
  using outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${index.port}`, index.port);
  const command = `/usr/bin/python3 -m pip download --no-deps --dest wheels -i ${address} dep`;
  await using server = await staging([command], {}, {}, { outside });
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turn("once");
  expect(questions[0]?.title, output).toContain(
    `reach 127.0.0.1:${index.port} with the login of ~/.config/pip/pip.conf for 127.0.0.1:${index.port}?`,
  );
  expect(output).toContain("Successfully downloaded dep");
  expect(index.requests).toEqual(["GET /simple/dep/ me", "GET /dep-1.0.0-py3-none-any.whl me"]);
  await server.running[Symbol.asyncDispose]();
  expect(keptText(server)).not.toContain(password);
});

test("pip: 401 first, then the login of ~/.netrc by a question; what the workspace prepared finds none", async () => {
  using index = await packageIndex();
  const address = `http://127.0.0.1:${index.port}/simple/`;
  await using home = await temporaryDirectory({
    ".config/pip/pip.conf": `[global]\nindex-url = ${address}\n`,
    ".netrc": `machine other.example login x password y\nmachine 127.0.0.1 login me password ${password}\n`,
  });
  vi.stubEnv("HOME", home.root);
  using outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${index.port}`, index.port);
  // A server listens on its port.
  const install = `/usr/bin/python3 -m pip install --no-deps --user --break-system-packages -i ${address} -r requirements.txt`;
  const evil = `import os; open("stolen", "a").write(repr(dict(os.environ)))\n`;
  await using server = await staging(
    [install, install, install],
    {
      "requirements.txt": "# ours\ndep == 1.0.0 ; python_version > '3'\n",
      "setup.cfg": "[global]\nindex-url = http://127.0.0.1:9/\n",
    },
    {},
    { outside },
  );
  await using session = await AskedSession.start(server);
  const first = await session.turnWithYes();
  expect(first.output).toContain("wants a login, and the user has one");
  expect(index.requests.every((request) => request.endsWith(" nobody"))).toBe(true);

  // Modules that Python finds first if started here: the pip with the login uses none of them.
  await server.workspace.write("pip.py", evil);
  await server.workspace.write("sitecustomize.py", evil);
  const second = await session.turnWithYes();
  const [question] = second.questions;
  expect(question?.computed?.rule).toBe("keys/use");
  expect(question?.impactStatement).toContain(address);
  expect(question?.computed?.reason).toContain(`the login of ~/.netrc for 127.0.0.1:${index.port}`);
  expect(second.output).toContain("Saved /tmp/");
  expect(index.requests).toContain("GET /dep-1.0.0-py3-none-any.whl me");
  expect(second.output).not.toContain(password);
  const found = await server.workspace.read("stolen");
  expect(found).toContain("PATH");
  expect(found).not.toMatch(/PIP_INDEX_URL|correct-horse/);
  // Without them, it comes from what was fetched.
  rmSync(server.workspace.path("pip.py"));
  rmSync(server.workspace.path("sitecustomize.py"));
  const third = await session.turnWithYes();
  expect(third.output).toContain("Successfully installed dep-1.0.0");
  expect(index.requests.filter((request) => request.includes("stolen"))).toEqual([]);
  await server.running[Symbol.asyncDispose]();
  expect(keptText(server)).not.toContain(password);
});
