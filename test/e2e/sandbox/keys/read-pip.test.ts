import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { listening } from "@gennai/testkit/listening";
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
  const { port } = await listening(server);
  return { port, requests, [Symbol.dispose]: () => void server.close() };
}

test("pip: the login is added to what it reads, and pip itself has none", async () => {
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

test("pip: 401 first, then the login of ~/.netrc by a question; code of the workspace finds none", async () => {
  using index = await packageIndex();
  const address = `http://127.0.0.1:${index.port}/simple/`;
  await using home = await temporaryDirectory({
    ".config/pip/pip.conf": `[global]\nindex-url = ${address}\n`,
    ".netrc": `machine other.example login x password y\nmachine 127.0.0.1 login me password ${password}\n`,
  });
  vi.stubEnv("HOME", home.root);
  using outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${index.port}`, index.port);
  const install = `/usr/bin/python3 -m pip install --no-deps --user --break-system-packages -i ${address} -r requirements.txt`;
  await using server = await staging(
    [`${install} && env`],
    {
      "requirements.txt": "# ours\ndep == 1.0.0 ; python_version > '3'\n",
      // Python finds it first, in the directory where it is started.
      "sitecustomize.py": `import os, glob; open("seen.private", "a").write(repr(dict(os.environ)) + "".join(open(f, errors="replace").read() for f in glob.glob("/proc/*/environ") if os.access(f, os.R_OK)))\n`,
    },
    {},
    { outside },
  );
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turnWithYes();
  expect(
    questions.map(({ title }) => title),
    output,
  ).toEqual([
    expect.stringContaining(`reach 127.0.0.1:${index.port} with the login of ~/.netrc for 127.0.0.1:${index.port}?`),
  ]);
  expect(output).toContain("Successfully installed dep-1.0.0");
  expect(index.requests).toContain("GET /dep-1.0.0-py3-none-any.whl me");
  expect(output).not.toContain(password);
  await server.running[Symbol.asyncDispose]();
  expect(keptText(server)).not.toContain(password);
});
