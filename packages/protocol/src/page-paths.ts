/** Makes a one-time code, for anyone who has the server's token. */
export const PAGE_CODE_PATH = "/page/code";
/** Exchanges a code for the token of a page. */
export const PAGE_TOKEN_PATH = "/page/token";
/** Gives a page's token back; with the server's own token, takes all of them back. */
export const PAGE_CLOSE_PATH = "/page/close";
/** Lists, adds and removes the browsers that are remembered. */
export const PAGE_DEVICES_PATH = "/page/devices";
/** Lets a remembered browser in: a nonce first, then its signature for the token of a page. */
export const PAGE_LOGIN_PATH = "/page/login";
/** The page of one question, for somebody who got a link: `/answer#CODE`. */
export const answerPath = "/answer";
/** Its one way to the server. */
export const PAGE_ANSWER_PATH = "/page/answer";

/** What a remembered browser signs. @param origin where its page is, e.g. `http://127.0.0.1:7777` */
export function loginText(origin: string, nonce: string): string {
  return `gennai page login\n${origin}\n${nonce}`;
}
