import { appendFileSync, copyFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { story } from "../story.mjs";
import { canHaveRoot, machine } from "./machines.mjs";

const names = /Policy: acme-default\. Questions: security@acme\.example\./;

await story(async ({ workspace, say, gennai, expect }) => {
  const home = join(workspace, "..");
  const collected = join(home, "collector.jsonl");
  /** @type {string[]} */
  const messages = [];
  /** @type {(code: string) => void} */
  let gotMessage = () => {};
  const receiver = await listen(async (path, body) => {
    if (path === "/v1/logs") return appendFileSync(collected, `${body}\n`);
    messages.push(body);
    gotMessage(body);
  });
  const port = await freePort();
  const shownPorts = { 4318: receiver.port, 7777: port };
  /** A file beside this one, with the ports of this run. @param {string} name */
  const file = (name) =>
    Object.entries(shownPorts).reduce(
      (all, [shown, real]) => all.replaceAll(`127.0.0.1:${shown}`, `127.0.0.1:${real}`),
      readFileSync(join(import.meta.dirname, name), "utf8"),
    );
  /** @param {string} output */
  const toShown = (output) =>
    Object.entries(shownPorts).reduce(
      (all, [shown, real]) => all.replaceAll(`127.0.0.1:${real}`, `127.0.0.1:${shown}`),
      output,
    );
  const policy = file("policy.yaml");
  const hasRoot = canHaveRoot(home);
  /** @param {string} name @param {string} ofRoot */
  const add = (name, ofRoot) =>
    machine({
      home: join(home, "machines", name),
      workspace,
      policy: hasRoot ? ofRoot : undefined,
      toShown,
      files: {
        "policy.yaml": policy,
        "call.json": file("claude-code-call.json").replaceAll("/home/you", join(home, "machines", name)),
        ".config/gennai/people.yaml": file("people.yaml"),
        ".config/gennai/webhook.secret": "whsec_YW4gZXhhbXBsZSdzIHNlY3JldA==",
        ...(hasRoot ? {} : { ".config/gennai/server.json": serverSettings(receiver.port) }),
      },
    });

  try {
    say("Before it is rolled out, the administrator tries the policy, without root.");
    gennai("--version");
    const laptop = add("laptop", policy);
    const tried = await laptop.run(
      'gennai policy check --policy ~/policy.yaml "kubectl --context=prod delete pod web"',
    );
    expect(tried.code === 3 && /^ {2}managed .*policy\.yaml:6$/m.test(tried.output), "it refuses what it should");

    if (hasRoot) {
      say("Now it lies in /etc/gennai of three machines. On the laptop:");
      const shown = await laptop.run("gennai policy show");
      expect(/^managed +acme-default/m.test(shown.output), "the laptop is managed");
      const ran = await laptop.run('gennai run "run kubectl --context=prod delete pod web"');
      expect(ran.code === 3 && names.test(ran.output), "the refusal names the policy and whom to ask");

      say("On a second one, the file was cut off on its way:");
      const cut = add("cut", policy.slice(0, policy.indexOf("answers:")));
      const half = await cut.run('gennai run "run touch new.txt"');
      expect(half.code === 3 && /may be cut off/.test(half.output), "half a policy lets nothing be changed");
    } else say("Left out without root: three machines with an /etc/gennai of their own, and what is refused there.");

    say("The third one is where Claude Code works, with a server of Gennai.");
    const box = add("devbox", policy);
    const pin = /\d{8}/.exec((await box.run("gennai people pin dana")).output)?.[0] ?? "";
    const stop = await box.serve(`gennai serve --port ${port}`);
    try {
      await box.run("gennai guard install claude-code");
      const hook = `node -p 'require("./.claude/settings.local.json").hooks.PreToolUse[0].hooks[0].command'`;
      const judged = await box.run(`sh -c "$(${hook})" < ~/call.json`);
      if (hasRoot) expect(/"deny"/.test(judged.output) && names.test(judged.output), "its hook refuses the same");
      else expect(judged.code === 0 && judged.output !== "", "its hook asks, as no policy of root refuses");

      say("A question goes to dana's telephone. She opens the link, types her PIN, and says yes.");
      /** @type {Promise<string>} */
      const message = new Promise((resolve) => {
        gotMessage = resolve;
      });
      const asked = box.run('gennai run --ask "run sed -i s/--test/--version/ package.json"', "open");
      const { url } = JSON.parse(await message);
      const stranger = await answer(url, { pin: "00000000" });
      expect(stranger.status !== 200, "the link alone opens nothing");
      const page = await answer(url, { pin });
      const { token, question } = page.body;
      const said = await answer(url, { token, answer: "yes", actionSha256: question.actionSha256 });
      expect(said.status === 200, "her yes counts", JSON.stringify(said.body));
      const kept = await asked;
      const { scripts } = JSON.parse(readFileSync(join(box.home, "colours", "package.json"), "utf8"));
      expect(kept.code === 0 && scripts.test === "node --version", "what she said yes to is done");
      say(`The message was: ${toShown(messages[0] ?? "")}`);
    } finally {
      await stop();
    }

    say("The auditor has what the collector wrote down, of all machines.");
    copyFileSync(collected, join(box.home, "collector.jsonl"));
    const whole = await box.run("gennai ledger verify --against ~/collector.jsonl");
    expect(whole.code === 0 && /^ok/m.test(whole.output), "the copy is whole");
    await box.run('sed \'s/"deny"/"allow"/\' ~/collector.jsonl > ~/changed.jsonl');
    const changed = await box.run("gennai ledger verify --against ~/changed.jsonl");
    expect(changed.code === 24, "a verdict that was changed is found");
    await box.run("grep -v gennai.ledger.intent ~/collector.jsonl > ~/short.jsonl");
    const short = await box.run("gennai ledger verify --against ~/short.jsonl");
    expect(short.code === 25, "what was left out is found");
    const key = "~/.local/state/gennai/keys/ledger.ed25519.pub";
    const alone = await box.run(`cd / && gennai ledger verify --against ~/collector.jsonl --public-key ${key}`);
    expect(alone.code === 0, "who has only the copy and the public key can check it, too");
  } finally {
    receiver.close();
  }
});

/** What the page of the link sends. @param {string} url @param {object} more */
async function answer(url, more) {
  const { origin, hash } = new URL(url);
  const body = JSON.stringify("pin" in more ? { code: hash.slice(1), ...more } : more);
  const headers = { "content-type": "application/json", Origin: origin };
  const response = await fetch(`${origin}/page/answer`, { method: "POST", headers, body });
  return { status: response.status, body: await response.json() };
}

/** Receives records and messages. @param {(path: string, body: string) => unknown} take */
async function listen(take) {
  const server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
    await take(request.url ?? "", body.toString());
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  return { port: portOf(server), close: () => server.close() };
}

async function freePort() {
  const { port, close } = await listen(() => undefined);
  close();
  return port;
}

/** @param {import("node:http").Server} server */
function portOf(server) {
  const place = server.address();
  return typeof place === "object" && place !== null ? place.port : 0;
}

/** What a user says of exports where no policy of root does. @param {number} port */
function serverSettings(port) {
  const endpoint = `http://127.0.0.1:${port}`;
  return JSON.stringify({ export: [{ name: "siem", to: "otlp", endpoint, protocol: "http/json" }] });
}
