import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";

export interface CrateRegistry extends Disposable {
  readonly server: Server;
  /** Method, path, and what it said it was. */
  readonly requests: readonly string[];
}

/** A registry of crates, read by HTTP, with one of them, `dep`. Anyone who has not the token gets nothing. @param address of itself, with a slash at the end */
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
  const pages: Readonly<Record<string, string | Buffer>> = {
    "/index/config.json": JSON.stringify({ dl: `${address}api/v1/crates`, api: address, "auth-required": true }),
    "/index/3/d/dep": `${JSON.stringify(entry)}\n`,
    "/api/v1/crates/dep/1.0.0/download": archive,
  };
  const requests: string[] = [];
  const server = createServer(tls, (request, response) => {
    const { authorization = "nobody" } = request.headers;
    requests.push(`${request.method} ${request.url} ${authorization}`);
    const page = pages[request.url ?? ""];
    if (authorization !== token) response.writeHead(401).end();
    else if (page === undefined) response.writeHead(404).end();
    else response.end(page);
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
