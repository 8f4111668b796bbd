import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { listening } from "@gennai/testkit/listening";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { keptText } from "./kept-text.ts";
import { password } from "./services/git-host.ts";

const name = "maven.example";

beforeEach(() => {
  for (const variable of ["NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE"]) vi.stubEnv(variable, undefined);
});
afterEach(() => vi.unstubAllEnvs());

const pom = (inside: string): string =>
  `<project><modelVersion>4.0.0</modelVersion>${inside}<packaging>pom</packaging></project>\n`;
const parent = "<groupId>org.corp</groupId><artifactId>parent</artifactId><version>1.0.0</version>";

test("Maven reads from the mirror of the user's settings by one yes that names the login; what it runs finds none", async () => {
  await using certificates = await makeTestCertificates([`DNS:${name}`]);
  const { cert, key } = await certificates.issue("server");
  const requests: string[] = [];
  const served: Readonly<Record<string, string>> = {
    "/all/org/corp/parent/1.0.0/parent-1.0.0.pom": pom(parent),
    "/all/org/corp/parent/1.0.0/parent-1.0.0.pom.sha1": hash("sha1", pom(parent)),
  };
  const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  const server = createServer(tls, ({ method, url = "", headers: { authorization } }, response) => {
    const isKnown = authorization === `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
    requests.push(`${method} ${url} ${isKnown ? "me" : (authorization ?? "nobody")}`);
    const found = served[url];
    if (isKnown && method === "GET" && found !== undefined) response.end(found);
    else response.writeHead(isKnown ? 404 : 401).end();
  });
  await using _listening = await listening(server);
  using outside = new TestOutside();
  outside.host(name, 443, server);
  await using home = await temporaryDirectory({
    "ca/ca.crt": certificates.ca,
    ".m2/settings.xml": `<settings>
  <servers><server><id>corp</id><username>me</username><password>${password}</password></server></servers>
  <mirrors><mirror><id>corp</id><mirrorOf>*</mirrorOf><url>https://${name}/all</url></mirror></mirrors>
</settings>
`,
    ".m2/repository/.keep": "",
  });
  vi.stubEnv("HOME", home.root);
  vi.stubEnv("SSL_CERT_FILE", home.path("ca/ca.crt"));
  const child = `<parent>${parent}<relativePath/></parent><artifactId>app</artifactId>`;
  // Java takes the home of the user's account, and this is another one.
  const validate = `mvn -B -s ${home.path(".m2/settings.xml")} -Dmaven.repo.local=${home.path(".m2/repository")} validate`;
  await using running = await staging(
    [validate, `${validate} && cat ~/.m2/settings.xml; env`],
    { "pom.xml": pom(child) },
    {},
    { outside },
  );
  await using session = await AskedSession.start(running);
  const first = await session.turn("once");
  expect(
    first.questions.map(({ title }) => title),
    first.output,
  ).toEqual([`Let mvn reach ${name}:443 with the login of ~/.m2/settings.xml for ${name}?`]);
  expect(first.output).toContain("BUILD SUCCESS");
  expect(requests).toEqual(Object.keys(served).map((path) => `GET ${path} me`));
  // It is in the cache of the session.
  const second = await session.turn();
  expect(second.questions, second.output).toEqual([]);
  expect(second.output).toContain(`<url>https://${name}/all</url>`);
  expect(second.output).not.toContain("<server>");
  await running.running[Symbol.asyncDispose]();
  expect(keptText(running)).not.toContain(password);
});
