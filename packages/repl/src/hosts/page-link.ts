import { PAGE_TOKEN_PATH } from "@gennai/protocol/page-paths";

/** Why the page was not let in, in words for its user. */
export class PageRefused extends Error {
  readonly code = "page_refused";
  override readonly name = "PageRefused";
}

/** The part of the window that a link needs. */
export interface LinkWindow {
  readonly location: Pick<Location, "hash" | "pathname">;
  readonly history: Pick<History, "replaceState">;
}

/** Removes the link's code from the address, so that neither history nor a bookmark nor an onlooker gets it. */
export function takeLinkCode({ location, history }: LinkWindow): string | undefined {
  const { hash } = location;
  if (hash === "") return undefined;
  history.replaceState(null, "", location.pathname);
  return codeIn(hash);
}

/** The code in pasted text: a whole link, or only the code. */
export function codeIn(text: string): string | undefined {
  return /^(?:[^#\s]*#)?([A-Za-z0-9_-]{22,128})$/.exec(text.trim())?.[1];
}

/** Exchanges a code for the token of this page; the code is then used up. Rejects with `PageRefused`. */
export async function exchangeCode(code: string, request: typeof fetch = fetch): Promise<string> {
  let response: Response;
  try {
    response = await request(PAGE_TOKEN_PATH, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
      credentials: "omit",
      redirect: "error",
    });
  } catch (cause) {
    throw new PageRefused("The server does not answer. Start it again, then use the link it prints.", { cause });
  }
  const body: unknown = await response.json().catch(() => undefined);
  const token = textField(body, "token");
  if (response.ok && token !== undefined) return token;
  if (response.status === 429) throw new PageRefused("Too many tries. Wait a second, then try again.");
  throw new PageRefused("This link was used already, is too old, or is of another server.");
}

function textField(value: unknown, name: string): string | undefined {
  const field: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return typeof field === "string" && field !== "" ? field : undefined;
}
