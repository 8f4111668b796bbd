import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { buffer } from "node:stream/consumers";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";

export interface CrateRegistry extends Disposable {
  readonly server: Server;
  /** Method, path, and what it said it was. */
  readonly requests: readonly string[];
}

/** A registry of crates, read by HTTP, with one of them, `dep`; others with names of three letters can be published. Anyone who has not the token gets nothing. @param address of itself, with a slash at the end */
export async function crateRegistry(
  token: string,
  { address, tls }: { readonly address: string; readonly tls: { readonly cert: string; readonly key: string } },
): Promise<CrateRegistry> {
  await using directory = await temporaryDirectory({
    "dep-1.0.0/Cargo.toml": '[package]\nname = "dep"\nversion = "1.0.0"\nedition = "2021"\n',
    "dep-1.0.0/src/lib.rs": "pub fn answer() -> u8 { 42 }\n",
  });
  execFileSync("tar", ["czf", "dep.crate", "dep-1.0.0"], { cwd: directory.root });
  const archive = readFileSync(directory.path("dep.crate"));
  const entry = { name: "dep", vers: "1.0.0", deps: [], cksum: hash("sha256", archive), features: {}, yanked: false };
  const pages: Record<string, string | Buffer> = {
    "/index/config.json": JSON.stringify({
      dl: `${address}api/v1/crates`,
      api: address.slice(0, -1),
      "auth-required": true,
    }),
    "/index/3/d/dep": `${JSON.stringify(entry)}\n`,
    "/api/v1/crates/dep/1.0.0/download": archive,
  };
  const requests: string[] = [];
  const server = createServer(tls, async (request, response) => {
    const { authorization = "nobody" } = request.headers;
    requests.push(`${request.method} ${request.url} ${authorization}`);
    const sent = await buffer(request);
    const page = pages[request.url ?? ""];
    if (authorization !== token) response.writeHead(401).end();
    else if (request.method === "PUT" && request.url === "/api/v1/crates/new") {
      const length = sent.readUInt32LE(0);
      const { name, vers } = JSON.parse(sent.toString("utf8", 4, 4 + length)) as { name: string; vers: string };
      const cksum = hash("sha256", sent.subarray(8 + length));
      pages[`/index/3/${name.slice(0, 1)}/${name}`] = `${JSON.stringify({ ...entry, name, vers, cksum })}\n`;
      response.end('{"warnings":{}}');
    } else if (request.method === "DELETE") response.end('{"ok":true}');
    else if (page === undefined) response.writeHead(404).end();
    else response.setHeader("ETag", `"${hash("sha1", page)}"`).end(page);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    server,
    requests,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
