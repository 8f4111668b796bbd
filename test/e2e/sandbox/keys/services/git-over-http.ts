import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { listening } from "@gennai/testkit/listening";

export interface GitOverHttp extends AsyncDisposable {
  readonly port: number;
  /** Every request: method, path, and who it says it is from. */
  readonly requests: readonly string[];
  /** Whole, as they came, with their headers. */
  readonly raw: readonly string[];
}

/** Git's own server for HTTP, which asks for a name and a password. @param root of bare repositories */
export async function gitOverHttp(
  root: string,
  { user, password }: { readonly user: string; readonly password: string },
  tls?: { readonly cert: string; readonly key: string },
): Promise<GitOverHttp> {
  const requests: string[] = [];
  const raw: string[] = [];
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const answer: RequestListener = (request, response) => {
    const { method = "", url = "", headers } = request;
    raw.push(`${method} ${url} ${JSON.stringify(headers)}`);
    const isKnown = headers.authorization === expected;
    requests.push(`${method} ${url} ${isKnown ? user : (headers.authorization ?? "nobody")}`);
    if (!isKnown) {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
      return;
    }
    serve(request, response, { root, user });
  };
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  const { port, ...closing } = await listening(server);
  return {
    port,
    requests,
    raw,
    ...closing,
  };
}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { root, user }: { readonly root: string; readonly user: string },
): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://x");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"],
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
      HTTP_GIT_PROTOCOL: request.headers["git-protocol"] as string | undefined,
      REMOTE_USER: user,
      HOME: root,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  backend.once("close", () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf("\r\n\r\n");
    const headers = answer
      .subarray(0, end)
      .toString()
      .split("\r\n")
      .map((line) => line.split(": ", 2));
    const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
    for (const [name = "", value = ""] of headers) if (name !== "Status") response.setHeader(name, value);
    response.writeHead(Number.parseInt(status, 10)).end(answer.subarray(end + 4));
  });
}
