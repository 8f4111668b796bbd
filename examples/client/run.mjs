import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packagedNode } from "../../scripts/lib/packaged-node.mjs";
import { story } from "../story.mjs";

const token = "an-example-token-that-nobody-else-has";

await story(async ({ workspace, say, serve, expect }) => {
  say("A server on a free port, with a token of our own.");
  const server = await serve(token);
  try {
    say("The client has a command run, and answers the question about what that changed.");
    const { code, stdout, stderr } = client(server.url, token, "run sed -i s/--test/--version/ package.json");
    process.stdout.write(stdout.replace(/^(?=.)/gm, "    "));
    expect(code === 0, "it comes to its end", stderr);
    expect(
      /^asked +Keep what `sed .*` changed: package\.json: package\.json is a file of scripts/m.test(stdout),
      "it was asked, with what the server computed",
      stdout,
    );
    const { scripts } = JSON.parse(readFileSync(join(workspace, "package.json"), "utf8"));
    expect(scripts.test === "node --version", "its yes made that true");

    say("Somebody without the token gets nowhere.");
    const stranger = client(server.url, "another-token", "list");
    expect(stranger.code !== 0 && /unauthenticated/i.test(stranger.stderr), "the server refuses", stranger.stderr);
  } finally {
    await server[Symbol.asyncDispose]();
  }
});

/** @param {string[]} args */
function client(...args) {
  const program = join(import.meta.dirname, "client.ts");
  const { status, stdout, stderr } = spawnSync(packagedNode(), [program, ...args], { encoding: "utf8" });
  return { code: status ?? 1, stdout, stderr };
}
