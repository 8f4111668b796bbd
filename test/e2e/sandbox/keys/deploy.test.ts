import { hash } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import { listening } from "@gennai/testkit/listening";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { keptText } from "./kept-text.ts";
import { password } from "./services/git-host.ts";

const name = "maven.example";
const place = "/releases/org/corp/demo";

afterEach(() => vi.unstubAllEnvs());

/** What Maven sends: each file with its checksums, and the list of versions with one more. Its archive is another each time. */
const maven = `#!/bin/sh
set -e
to=http://${name}${place}
put() { for one in "$1" "$1.sha1" "$1.md5"; do curl -sS --fail -T "out/\${one##*/}" "$to/$one"; done; }
sums() { for one; do sha1sum "out/$one" | cut -c1-40 | tr -d '\\n' > "out/$one.sha1"; md5sum "out/$one" | cut -c1-32 | tr -d '\\n' > "out/$one.md5"; done; }
mkdir -p out
od -An -N8 -tx1 /dev/urandom > out/demo-1.1.jar; echo '<project/>' > out/demo-1.1.pom
sums demo-1.1.jar demo-1.1.pom
put 1.1/demo-1.1.jar; put 1.1/demo-1.1.pom
old=$(curl -sS "$to/maven-metadata.xml" | grep -o '<version>[^<]*</version>' || true)
printf '<metadata><groupId>org.corp</groupId><artifactId>demo</artifactId><versioning><release>1.1</release><versions>%s<version>%s</version></versions><lastUpdated>20261130000000</lastUpdated></versioning></metadata>' "$old" "\${LISTS:-1.1}" > out/maven-metadata.xml
sums maven-metadata.xml
put maven-metadata.xml
echo BUILD SUCCESS
`;

test("a deployment of Maven, nine requests in two runs, is one question, and sends the files that it showed; after a no, nothing", async () => {
  const stored = new Map([[`${place}/maven-metadata.xml`, Buffer.from(list("1.0"))]]);
  const puts: string[] = [];
  const server = createServer((request, response) => {
    const { method, url = "", headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (headers.authorization !== `Basic ${Buffer.from(`me:${password}`).toString("base64")}`)
        return void response.writeHead(401).end();
      if (method === "PUT") {
        puts.push(url.slice(place.length + 1));
        stored.set(url, Buffer.concat(chunks));
      }
      const found = stored.get(url);
      response.writeHead(method === "PUT" ? 201 : found === undefined ? 404 : 200).end(method === "PUT" ? "" : found);
    });
  });
  await using _listening = await listening(server);
  using outside = new TestOutside();
  outside.host(name, 80, server);
  await using home = await temporaryDirectory({
    "tools/bin/mvn": maven,
    ".m2/settings.xml": `<settings>
  <servers><server><id>corp</id><username>me</username><password>${password}</password></server></servers>
  <profiles><profile><repositories><repository><id>corp</id><url>http://${name}/releases</url></repository></repositories></profile></profiles>
</settings>
`,
  });
  chmodSync(home.path("tools/bin/mvn"), 0o755);
  vi.stubEnv("HOME", home.root);
  vi.stubEnv("PATH", `${home.path("tools/bin")}:${process.env["PATH"]}`);
  await using running = await staging(
    ["mvn deploy && echo x > done.txt", "mvn deploy && echo x > done.txt", "LISTS=9.9 mvn deploy"],
    {},
    {},
    { outside },
  );
  await using session = await AskedSession.start(running);
  const refused = await session.turn("no");
  expect(refused.questions).toHaveLength(1);
  expect(refused.output).not.toContain("BUILD SUCCESS");
  expect(puts).toEqual([]);
  expect(existsSync(running.workspace.path("done.txt"))).toBe(false);

  const { questions, output } = await session.turn("once");
  const jar = stored.get(`${place}/1.1/demo-1.1.jar`) ?? Buffer.of();
  const files = [
    `deploy org/corp/demo/1.1/demo-1.1.jar (sha256 ${hash("sha256", jar)})`,
    `deploy org/corp/demo/1.1/demo-1.1.pom (sha256 ${hash("sha256", "<project/>\n")})`,
  ];
  expect(
    questions.map(({ title }) => title),
    output,
  ).toEqual([
    `Let mvn deploy && echo x > done.txt send this: ${files.join("; ")} at ${name}:80 with the login of ~/.m2/settings.xml for ${name}?`,
  ]);
  expect(output).toContain("BUILD SUCCESS");
  const all = ["1.1/demo-1.1.jar", "1.1/demo-1.1.pom", "maven-metadata.xml"];
  expect(puts).toEqual(all.flatMap((one) => [one, `${one}.sha1`, `${one}.md5`]));
  expect(stored.get(`${place}/1.1/demo-1.1.jar.sha1`)?.toString()).toBe(hash("sha1", jar));
  expect(stored.get(`${place}/maven-metadata.xml`)?.toString()).toContain(
    "<version>1.0</version><version>1.1</version>",
  );

  expect(existsSync(running.workspace.path("done.txt"))).toBe(true);
  const other = await session.turn("once");
  expect(other.output).toContain("It lists other versions");
  expect(stored.get(`${place}/maven-metadata.xml`)?.toString()).not.toContain("9.9");
  await running.running[Symbol.asyncDispose]();
  expect(keptText(running)).not.toContain(password);
});

function list(version: string): string {
  return `<metadata><groupId>org.corp</groupId><artifactId>demo</artifactId><versioning><versions><version>${version}</version></versions></versioning></metadata>`;
}
