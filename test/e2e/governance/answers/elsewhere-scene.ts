import { chmod } from "node:fs/promises";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { PersonPins } from "@gennai/server/elsewhere/person-pins";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";

const steps = [call("Write", { path: "Makefile", content: "all:\n" }), { text: ["Done."] }];

/** A server whose questions go to alice by a webhook, which is here. */
export async function elsewhereScene({ policy = "", pageDirectory }: { policy?: string; pageDirectory?: string } = {}) {
  await using parts = new AsyncDisposableStack();
  const hooked: string[] = [];
  const first = Promise.withResolvers<string>();
  const hook = createServer(async (request, response) => {
    const body = await text(request);
    hooked.push(body);
    response.end();
    first.resolve(body);
  });
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  parts.defer(() => void hook.close());
  const place = hook.address();
  const port = typeof place === "object" ? place?.port : 0;
  const home = parts.use(
    await temporaryDirectory({
      "gennai/q.secret": "whsec_c2VjcmV0",
      "gennai/people.yaml": `url: http://127.0.0.1\nafter_seconds: 0\npeople:\n  alice: [{ via: webhook, url: "http://127.0.0.1:${port}/", secret_file: q.secret }]\n`,
      "policy/policy.yaml": `gennai_policy: 1\nname: acme\n${policy}\n...\n`,
    }),
  );
  for (const name of ["q.secret", "people.yaml"]) await chmod(home.path(`gennai/${name}`), 0o600);
  const page = parts.use(await temporaryDirectory({ "repl.js": "1;\n" }));
  const directory = home.path("policy");
  const server = parts.use(
    await startTestServer({
      steps,
      settings: { interactive: true },
      server: {
        pageDirectory: pageDirectory ?? page.root,
        environment: { ...process.env, XDG_CONFIG_HOME: home.root },
        policyFiles: {
          directory,
          list: (at) => (at === directory ? ["policy.yaml"] : []),
          read: async () => `gennai_policy: 1\nname: acme\n${policy}\n...\n`,
        },
      },
    }),
  );
  const pin = await new PersonPins(server.stateDir).renew("alice");
  const owned = parts.move();
  const post = async (body: object, headers: Readonly<Record<string, string>> = { Origin: server.url }) => {
    const sent = { method: "POST", headers: { "content-type": "application/json", ...headers } };
    const response = await fetch(`${server.url}/page/answer`, { ...sent, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
  };
  const codeIn = (body: string) => /answer#([\w-]{32})/.exec(body)?.[1] ?? "";
  return {
    server,
    pin,
    hooked,
    post,
    code: () => first.promise.then(codeIn),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
