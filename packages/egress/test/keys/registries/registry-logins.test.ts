import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { ownLogins } from "#keys/own-logins";
import { combinedLogins, type RegistryAccess } from "#keys/registries/registry-login";
import type { LoginUse } from "#network/added-login";

const files = {
  ".npmrc": [
    "registry=https://npm.example/team/",
    "//npm.example/team/:_authToken=${NPM_TOKEN}",
    "//other.example:8443/:_auth=bWU6cGFzc3dvcmQtb25l",
    "//third.example/:username=me",
    "//third.example/:_password=cGFzc3dvcmQtdHdv",
    "//127.0.0.1:4873/:_authToken=local-token",
    "//registry.npmjs.org/:_authToken=public-token",
    "//empty.example/:_authToken=",
    "//broken.example/:_authToken=two words",
  ].join("\n"),
  ".yarnrc.yml": [
    'npmRegistryServer: "https://yarn.example"',
    'npmAuthToken: "${YARN_TOKEN:-yarn-token}"',
    "npmScopes:",
    "  corp:",
    '    npmRegistryServer: "https://corp.example/npm"',
    '    npmAuthIdent: "me:password-three"',
    "npmRegistries:",
    "  //named.example:",
    "    npmAuthToken: named-token",
  ].join("\n"),
  ".cargo/config.toml": [
    "[registries.corp]",
    'index = "sparse+https://crates.example/index" # ours',
    '[registries."by-git"]',
    'index = "https://git.example/index"',
    "[registries.none]",
    'index = "sparse+https://none.example/"',
  ].join("\n"),
  ".cargo/credentials.toml":
    '[registries.corp]\ntoken = "Token crate-token"\n[registries.by-git]\ntoken = "x-token"\n[registries.elsewhere]\ntoken = "y-token"\n',
  ".config/pip/pip.conf": "[global]\nindex-url = https://me:password-four@pip.example/simple/\n",
  ".netrc": "machine netrc.example login me password password-five\n",
  ".config/composer/auth.json": JSON.stringify({
    "http-basic": { "php.example": { username: "me", password: "password-six" } },
    bearer: { "php2.example": "php-token" },
    "github-oauth": { "github.com": "other-token" },
  }),
  ".gemrc": "---\n:sources:\n- https://me:password-seven@gems.example/private\n",
  ".gem/credentials": '---\n:rubygems_api_key: gem-token\n"https://push.example": push-token\n',
  ".pypirc":
    "[distutils]\nindex-servers = pypi corp\n[pypi]\nusername = __token__\npassword = pypi-token\n[corp]\nrepository: https://upload.example/legacy\nusername = me\npassword = password-eight\n",
  ".config/pypoetry/config.toml": '[repositories.corp]\nurl = "https://poetry.example/legacy/"\n',
  ".config/pypoetry/auth.toml":
    '[http-basic.corp]\nusername = "me"\npassword = "password-nine"\n[pypi-token]\npypi = "poetry-token"\n',
  ".config/pdm/config.toml":
    '[pypi]\nurl = "https://pdm.example/simple"\nusername = "me"\npassword = "password-eleven"\n[repository.corp]\nurl = "https://pdm-upload.example/legacy/"\nusername = "me"\npassword = "password-twelve"\n',
  ".docker/config.json": JSON.stringify({
    auths: { "images.example:5000": { auth: "bWU6cGFzc3dvcmQtdGVu" }, "other.example": {} },
  }),
  ".m2/settings.xml": `<?xml version="1.0"?>
<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0">
  <servers>
    <!-- <server><id>corp</id><username>other</username></server> -->
    <server><id>corp</id><username>me</username><password>password&lt;13</password></server>
    <server><id>mine</id><username>me</username><password>\${env.MAVEN_PASSWORD}</password></server>
    <server><id>sealed</id><username>me</username><password>{c2VhbGVk=}</password></server>
    <server><id>of-a-project</id><username>me</username><password>password-fifteen</password></server>
  </servers>
  <mirrors>
    <mirror><id>corp</id><mirrorOf>*</mirrorOf><url>https://maven.example/all</url></mirror>
    <mirror><id>sealed</id><url>https://sealed.example/</url></mirror>
  </mirrors>
  <profiles><profile><repositories>
    <repository><id>mine</id><url>https://maven2.example/releases/</url></repository>
  </repositories></profile></profiles>
</settings>
`,
  ".config/go/env": "GOPROXY=http://netrc.example:8080,https://proxy.example\n",
};

const { signal } = new AbortController();

async function loginsFor(text: string, home: string) {
  const keys = { home, environment: { NPM_TOKEN: "npm-token", MAVEN_PASSWORD: "password-fourteen" } };
  const command = analyseCommand(text, { cwd: home, home });
  const { logins, inRun } = await ownLogins(command, { directory: home, workspaceRoot: home, keys, signal });
  const opened = await Promise.all(
    logins.map(async (own) => ({ ...(await own.open({ signal })), isNeeded: own.isNeeded })),
  );
  return { opened, inRun: inRun(logins) };
}

/** By endpoint: what each login may do with a request. */
async function uses(text: string, method: string, path: (host: string) => string) {
  await using home = await temporaryDirectory(files);
  const { opened } = await loginsFor(text, home.root);
  return Object.fromEntries(
    opened.map(({ endpoint: { host, port }, isTls, use }): [string, LoginUse | undefined] => [
      `${isTls ? "https" : "http"}://${host}:${port}`,
      use({ method, path: path(host), query: "", headers: {} }),
    ]),
  );
}

/** By endpoint: what each login says for a path that is read. */
async function found(text: string, path: (host: string) => string) {
  const all = Object.entries(await uses(text, "GET", path));
  return Object.fromEntries(all.map(([place, use]) => [place, use?.authorization]));
}

const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString("base64")}`;
const ofNpm = {
  "https://npm.example:443": "Bearer npm-token",
  "https://other.example:8443": basic("me:password-one"),
  "https://third.example:443": basic("me:password-two"),
  "http://127.0.0.1:4873": "Bearer local-token",
  "https://registry.npmjs.org:443": "Bearer public-token",
};
const npmPath = (host: string): string => (host === "npm.example" ? "/team/dep" : "/dep");

test("npm's settings, for pnpm and both yarns", async () => {
  expect(await found("pnpm install", npmPath)).toEqual(ofNpm);
  expect(await found("yarn add zod", (host) => (host === "corp.example" ? "/npm/dep" : npmPath(host)))).toEqual({
    ...ofNpm,
    "https://yarn.example:443": "Bearer yarn-token",
    "https://corp.example:443": basic("me:password-three"),
    "https://named.example:443": "Bearer named-token",
  });
});

test("cargo's: only where the user's own settings have the address of that name", async () => {
  expect(await found("cargo build", () => "/index/config.json")).toEqual({
    "https://crates.example:443": "Token crate-token",
  });
});

test("pip's, of settings and of ~/.netrc", async () => {
  const command = "pip install --extra-index-url https://netrc.example/simple/ dep";
  expect(await found(command, () => "/simple/dep/")).toEqual({
    "https://pip.example:443": basic("me:password-four"),
    "https://netrc.example:443": basic("me:password-five"),
  });
});

const ofPdm = {
  "https://pdm.example:443": basic("me:password-eleven"),
  "https://pdm-upload.example:443": basic("me:password-twelve"),
};
const netrc = { "https://netrc.example:443": basic("me:password-five") };

test.each<[text: string, path: string, expected: Readonly<Record<string, string>>]>([
  [
    "composer install",
    "/packages.json",
    { "https://php.example:443": basic("me:password-six"), "https://php2.example:443": "Bearer php-token" },
  ],
  [
    "composer install",
    "/dist/a-1.0.zip",
    { "https://php.example:443": basic("me:password-six"), "https://php2.example:443": "Bearer php-token" },
  ],
  ["go get x", "/x.example/dep/@v/v1.0.0.zip", { ...netrc, "http://netrc.example:8080": basic("me:password-five") }],
  ["gem install x", "/private/gems/x-1.0.0.gem", { "https://gems.example:443": basic("me:password-seven") }],
  ["bundle install", "/info/x", netrc],
  [
    "poetry install",
    "/legacy/dep/",
    {
      "https://poetry.example:443": basic("me:password-nine"),
      "https://upload.pypi.org:443": basic("__token__:poetry-token"),
    },
  ],
  // Archives stand beside the index at many hosts.
  ["pdm install", "/packages/dep-1.0.0-py3-none-any.whl", ofPdm],
  ["pdm lock", "/simple/dep/", { "https://pdm.example:443": basic("me:password-eleven") }],
  [
    "skopeo copy docker://images.example:5000/me/x dir:x",
    "/v2/me/x/manifests/1",
    { "https://images.example:5000": basic("me:password-ten") },
  ],
  [
    "mvn -B verify",
    "/all/org/x/dep/1.0-SNAPSHOT/dep-1.0-20260101.101010-1-sources.jar.sha1",
    { "https://maven.example:443": basic("me:password<13") },
  ],
  [
    "mvn deploy",
    "/releases/org/x/dep/maven-metadata.xml",
    { "https://maven2.example:443": basic("me:password-fourteen") },
  ],
  ["cpanm Foo", "/authors/id/M/ME/ME/Foo-1.0.tar.gz", netrc],
  ["cabal update", "/01-index.tar.gz", netrc],
])("the declared ones: %s reads %s", async (text, path, expected) => {
  expect(
    Object.fromEntries(Object.entries(await found(text, () => path)).filter(([, said]) => said !== undefined)),
  ).toEqual(expected);
  // Other paths of a host are its users'.
  for (const other of ["/api/v1/api_key", "/user", "/settings/tokens.json", "/v2/token", "/api/v2/me"]) {
    expect(
      Object.values(await found(text, () => other)).filter((said) => said !== undefined),
      other,
    ).toEqual([]);
  }
});

test.each<[text: string, path: string, host: string, environment: Readonly<Record<string, string>>]>([
  [
    "twine upload -r corp dist/*",
    "/legacy/",
    "upload.example",
    { TWINE_REPOSITORY_URL: "https://upload.example/legacy/", TWINE_USERNAME: "me", TWINE_PASSWORD: "*" },
  ],
  [
    "twine upload dist/*",
    "/legacy/",
    "upload.pypi.org",
    { TWINE_REPOSITORY_URL: "https://upload.pypi.org/legacy/", TWINE_USERNAME: "__token__", TWINE_PASSWORD: "*" },
  ],
  [
    "poetry publish -r corp",
    "/legacy/",
    "poetry.example",
    { POETRY_REPOSITORIES_CORP_URL: "https://poetry.example/legacy/", POETRY_HTTP_BASIC_CORP_PASSWORD: "*" },
  ],
  ["pdm publish -r corp", "/legacy/", "pdm-upload.example", { PDM_PUBLISH_USERNAME: "me", PDM_PUBLISH_PASSWORD: "*" }],
  ["gem push --host https://push.example x.gem", "/api/v1/gems", "push.example", { GEM_HOST_API_KEY: "*" }],
])("the declared ones: %s publishes by %s at %s", async (text, path, host, environment) => {
  await using home = await temporaryDirectory(files);
  const { opened, inRun } = await loginsFor(text, home.root);
  const login = opened.find(({ endpoint }) => endpoint.host === host);
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const request = { method: "POST", path, query: "", headers };
  expect(login?.use(request)?.body).toBeDefined();
  for (const other of [{ method: "PUT" }, { method: "GET" }, { path: `${path}/x` }, { path: "/" }, { query: "?a=b" }]) {
    expect(login?.use({ ...request, ...other }), JSON.stringify(other)).toBeUndefined();
  }
  for (const [name, value] of Object.entries(environment)) {
    expect(inRun.environment[name]).toBe(value === "*" ? login?.placeholder : value);
  }
});

test("of two registries of a host, what is changed says at which: a yes is for one of them", () => {
  const place = (at: string): RegistryAccess => ({
    url: new URL(at, "https://r.example"),
    login: "a login",
    authorization: at,
    secrets: [],
    mayAsk: () => false,
    changes: ({ path }) =>
      path.startsWith(at) ? { most: 0, read: () => ({ type: "writes", what: "publish x", follows: "y" }) } : undefined,
  });
  const said = (...all: readonly string[]) => {
    const options = { publishes: true, expects: undefined, isNeeded: () => true };
    const [login] = combinedLogins(all.map(place), { home: "/h", environment: {} }, options);
    const use = login?.rehearsals?.[0]?.use({ method: "PUT", path: "/b/x", query: "", headers: {} });
    return [use?.authorization, use?.body?.read(Buffer.of(), true)];
  };
  expect(said("/a/", "/b/")).toEqual(["/b/", { type: "writes", what: "publish x in /b/", follows: "y in /b/" }]);
  expect(said("/b/")).toEqual(["/b/", { type: "writes", what: "publish x", follows: "y" }]);
});

test("Maven changes files of releases below the address of a login, and no others", async () => {
  const put = async (path: string): Promise<readonly string[]> =>
    Object.entries(await uses("mvn deploy", "PUT", () => path)).flatMap(([host, use]) =>
      use === undefined ? [] : host,
    );
  expect(await put("/all/org/x/dep/1.0/dep-1.0.jar")).toEqual(["https://maven.example:443"]);
  for (const path of ["/all/x.sh", "/all/archetype-catalog.xml", "/other/org/x/dep/1.0/dep-1.0.jar"])
    expect(await put(path), path).toEqual([]);
});

test.each(["npm install", "npm ci && npm test", "pnpm install | tee x", "TOKEN=x pnpm install", "./npm install"])(
  "%s: of each part of a command",
  async (text) => {
    expect(await found(text, npmPath)).toEqual(ofNpm);
  },
);

test.each([
  ...["npm test", "pnpm run build", "pnpm dlx x", "yarn dlx x", "cargo install x", "cargo login", "gem list"],
  ...["composer run x", "skopeo delete docker://images.example/x", "pip config list", "python3 pip install dep"],
  "curl https://npm.example/team/dep",
])("%s gets none here", async (text) => {
  expect(await found(text, () => "/dep")).toEqual({});
});

test("what a run has in the place of a login is random, and says nothing of it", async () => {
  await using home = await temporaryDirectory(files);
  const [one, other] = [await loginsFor("npm publish", home.root), await loginsFor("npm publish", home.root)];
  const shown = JSON.stringify(one.inRun);
  for (const { placeholder, secrets } of one.opened) {
    expect(shown).toContain(placeholder);
    expect(JSON.stringify(other)).not.toContain(placeholder);
    for (const secret of secrets) expect(shown).not.toContain(secret);
  }
  const [settings] = one.inRun.mounts;
  expect(settings).toMatchObject({
    path: home.path(".npmrc"),
    text: expect.stringMatching(/^registry=https:\/\/npm\.example\/team\/\n/),
  });
  expect((await loginsFor("cargo build", home.root)).inRun.environment).toMatchObject({
    CARGO_REGISTRIES_CORP_TOKEN: expect.stringMatching(/^placeholder-/),
  });
  expect((await loginsFor("yarn npm publish", home.root)).inRun.environment).toEqual({
    YARN_NPM_AUTH_TOKEN: expect.stringMatching(/^placeholder-/),
  });
});

test("a package is published by its address; a public registry is asked with the login at once only for that", async () => {
  const put = await uses("npm publish", "PUT", (host) => (host === "npm.example" ? "/team/@me%2fdep" : "/dep"));
  expect(Object.values(put).map((use) => use?.body !== undefined)).toEqual([true, true, true, true, true]);
  const tag = await uses("npm dist-tag add dep@1.0.0 beta", "PUT", () => "/-/package/dep/dist-tags/beta");
  expect(Object.values(tag).filter((use) => use?.body !== undefined)).toHaveLength(4);
  for (const path of ["/-/npm/v1/tokens", "/-/package/dep/access", "/team/dep/x/-rev/1", "/"]) {
    const other = await uses("npm publish", "PUT", () => path);
    expect(
      Object.values(other).filter((use) => use !== undefined),
      path,
    ).toEqual([]);
  }
  expect(Object.values(await uses("npm publish", "DELETE", () => "/dep")).filter((use) => use !== undefined)).toEqual(
    [],
  );
  await using home = await temporaryDirectory(files);
  const needed = async (text: string) =>
    (await loginsFor(text, home.root)).opened.find(({ endpoint }) => endpoint.host === "registry.npmjs.org")?.isNeeded;
  expect([await needed("npm install"), await needed("npm publish")]).toEqual([false, true]);
});

const paths: readonly (readonly [text: string, host: string, path: string, isRead: boolean])[] = [
  ["pnpm install", "npm.example", "/team/@corp%2fdep", true],
  ["pnpm install", "npm.example", "/team/@corp/dep", true],
  ["pnpm install", "npm.example", "/team/@corp/dep/-/dep-1.0.0.tgz", true],
  ["pnpm install", "npm.example", "/team/@corp/dep/-/@corp/dep-1.0.0-beta.1.tgz", true],
  ["pnpm install", "npm.example", `/team/download/@corp/dep/1.0.0/${"a".repeat(40)}`, true],
  ["pnpm install", "npm.example", "/dep", false],
  ["pnpm install", "npm.example", "/team", false],
  ["pnpm install", "npm.example", "/team/-/whoami", false],
  ["pnpm install", "npm.example", "/team/-/npm/v1/tokens", false],
  ["pnpm install", "npm.example", "/team/auth/corp", false],
  ["pnpm install", "npm.example", "/team/dep/-/rev/1", false],
  ["pnpm install", "npm.example", "/team/-", false],
  ["pnpm install", "third.example", "/artifactory/api/security/apiKey", false],
  ["cargo build", "crates.example", "/index/3/d/dep", true],
  ["cargo build", "crates.example", "/index/ab/cd/abcdef", true],
  ["cargo build", "crates.example", "/api/v1/crates/dep/1.0.0/download", true],
  ["cargo build", "crates.example", "/files/dep-1.0.0.crate", true],
  ["cargo build", "crates.example", "/api/v1/me", false],
  ["cargo build", "crates.example", "/api/v1/crates", false],
  ["pip download dep", "pip.example", "/simple/dep/", true],
  ["pip download dep", "pip.example", "/files/aa/dep-1.0.0-py3-none-any.whl", true],
  ["pip download dep", "pip.example", "/files/aa/dep-1.0.0.tar.gz", true],
  ["pip download dep", "pip.example", "/simple/", false],
  ["pip download dep", "pip.example", "/api/security/apiKey", false],
  ["pip download dep", "pip.example", "/backup.tar.gz", false],
];

test.each(paths)("%s: of %s, %s is read: %s", async (text, host, path, isRead) => {
  const all = await found(text, () => path);
  expect(all[`https://${host}:443`] !== undefined).toBe(isRead);
});

test("settings that are none, or broken, have no logins", async () => {
  await using home = await temporaryDirectory({
    ".npmrc": "//:_authToken=x\n//[/:_authToken=x\n=\n",
    ".yarnrc.yml": "npmScopes: [1]\nnpmRegistries: x\nnpmAuthToken: {a: 1}\n: :",
    ".cargo/config.toml": "[registries\nindex = ",
    ".cargo/credentials.toml": "\0\0",
    ".m2/settings.xml":
      "<!DOCTYPE x><settings><servers><server><id>x</id><password>y</password></server></servers><mirrors><mirror><id>x</id><url>https://x.example/</url></mirror></mirrors></settings>",
  });
  for (const text of ["pnpm install", "yarn", "cargo build", "mvn verify"]) {
    expect((await loginsFor(text, home.root)).opened).toEqual([]);
  }
});
