/** Makes a one-time code, for anyone who has the server's token. */
export const PAGE_CODE_PATH = "/page/code";
/** Exchanges a code for the token of a page. */
export const PAGE_TOKEN_PATH = "/page/token";
/** Gives a page's token back; with the server's own token, takes all of them back. */
export const PAGE_CLOSE_PATH = "/page/close";
