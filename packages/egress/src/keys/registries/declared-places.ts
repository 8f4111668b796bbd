import { join } from "node:path";
import { isLoopback } from "@gennai/governance/endpoint";
import type { LoginTable, RegistryUse } from "@gennai/governance/programs/program";
import { parse } from "yaml";
import { registryAddress } from "../login/npm-settings.ts";
import { settingsText } from "../login/settings-text.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { DeployedFiles } from "../requests/deployed-files.ts";
import { gemPush } from "../requests/gem-push.ts";
import { pythonUpload } from "../requests/python-upload.ts";
import { loginIn, netrcLogin } from "./pip-settings.ts";
import { basic, bearer, type RegistryAccess } from "./registry-login.ts";
import { elementsIn } from "./settings-elements.ts";
import { tablesOf } from "./settings-tables.ts";

/** A login in the user's settings. */
interface FoundLogin {
  readonly name: string;
  readonly url: URL;
  /** In words for people. */
  readonly from: string;
  readonly user: string;
  readonly said: Pick<RegistryAccess, "authorization" | "secrets">;
}

/** Logins where the declaration of a program says that they are. @param words of its calls */
export function declaredPlaces(use: RegistryUse, keys: UserKeys, words: readonly string[]): readonly RegistryAccess[] {
  const found = [...addressed(use, keys), ...tabled(use.logins ?? [], keys)];
  const chosen = chosenLogin(use, found, words);
  return found.map((one) => ({
    url: one.url,
    login: `the login of ${one.from} for ${one.url.host}`,
    ...one.said,
    mayAsk: (path) =>
      use.archives?.test(path) === true ||
      (path.startsWith(one.url.pathname) && use.reads.test(path.slice(one.url.pathname.length))),
    ...(use.publishes?.form !== "files" && { describes: () => false }),
    changes: changesAt(use, one.url),
    ...(use.inRun !== undefined && {
      inRun: (placeholder) => ({ environment: variablesOf(use, one, { isChosen: one === chosen, placeholder }) }),
    }),
  }));
}

function changesAt({ publishes }: RegistryUse, url: URL): NonNullable<RegistryAccess["changes"]> {
  const files = new DeployedFiles();
  return (request) => {
    const { method, path } = request;
    // An address may be that of a document, where it gets a slash behind it here.
    const inside = `${path}/`.startsWith(url.pathname) ? path.slice(url.pathname.length) : undefined;
    if (publishes === undefined || method !== publishes.method || inside === undefined || !publishes.path.test(inside))
      return undefined;
    if (publishes.form === "files") return files.reader(inside, url.pathname);
    return publishes.form === "archive" ? gemPush : pythonUpload(request);
  };
}

function variablesOf(
  { inRun }: RegistryUse,
  { name, url, user }: FoundLogin,
  { isChosen, placeholder }: { readonly isChosen: boolean; readonly placeholder: string },
): Readonly<Record<string, string>> {
  const own = name.toUpperCase().replaceAll(/\W/g, "_");
  const texts: Readonly<Record<string, string>> = { $NAME: own, $LOGIN: placeholder, $USER: user, $ADDRESS: url.href };
  const filled = (text: string): string => text.replaceAll(/\$[A-Z]+/g, (part) => texts[part] ?? part);
  return Object.fromEntries(
    Object.entries(inRun?.variables ?? {}).flatMap(([variable, value]) =>
      isChosen || variable.includes("$NAME") ? [[filled(variable), filled(value)]] : [],
    ),
  );
}

function chosenLogin(
  { inRun }: RegistryUse,
  found: readonly FoundLogin[],
  words: readonly string[],
): FoundLogin | undefined {
  const options = inRun?.option?.split(" ") ?? [];
  const at = words.findIndex((word) => options.includes(word));
  const inline = options.flatMap((option) =>
    words.flatMap((word) => (word.startsWith(`${option}=`) ? [word.slice(option.length + 1)] : [])),
  );
  const named = at < 0 ? inline[0] : words[at + 1];
  return named === undefined
    ? found[0]
    : found.find(({ name, url }) => name === named || url.href === registryAddress(named)?.href);
}

/** Addresses in texts, with the login in them or in `~/.netrc`. */
function addressed({ addresses = "", netrc }: RegistryUse, keys: UserKeys): readonly FoundLogin[] {
  const places = addresses.split(" ").filter((place) => place !== "");
  const netrcText = netrc === true ? settingsText(join(keys.home, ".netrc")) : "";
  const said = places.flatMap((place) =>
    (textOf(place, keys)?.text.match(/https?:\/\/[^\s"',|<>]+/g) ?? []).map((address) => ({ place, address })),
  );
  const own = said.flatMap(({ place, address }): readonly FoundLogin[] => {
    const url = registryAddress(address);
    if (url === undefined) return [];
    const inside = loginIn(address);
    const login = inside ?? netrcLogin(netrcText, url.hostname);
    if (login === undefined) return [];
    const from = inside === undefined ? "~/.netrc" : place;
    return [{ name: url.host, url, from, user: login.user, said: basic(`${login.user}:${login.password}`) }];
  });
  const hosts = [...netrcText.matchAll(/^\s*machine\s+([\w.-]+)/gm)].flatMap(([, host = ""]) => {
    const url = registryAddress(`https://${host}/`);
    const login = netrcLogin(netrcText, host);
    if (url === undefined || login === undefined) return [];
    return [{ name: host, url, from: "~/.netrc", user: login.user, said: basic(`${login.user}:${login.password}`) }];
  });
  return [...own, ...hosts];
}

/** What is known of a login by its name. */
interface LoginRow {
  from?: string;
  says?: LoginTable["says"];
  address?: string;
  user?: string;
  password?: string;
  token?: string;
  pair?: string;
}

function tabled(tables: readonly LoginTable[], keys: UserKeys): readonly FoundLogin[] {
  const rows = new Map<string, LoginRow>();
  for (const table of tables) {
    for (const [name, fields, from] of rowsOf(table, keys)) {
      const row: LoginRow = { address: table.usual?.[name], ...rows.get(name), ...fields };
      const isLogin = Object.keys(fields).some((field) => field !== "address");
      rows.set(name, isLogin ? { ...row, from, says: table.says } : row);
    }
  }
  return [...rows].flatMap(([name, row]) => {
    const url = registryAddress(row.address ?? addressOfHost(name));
    const said = saidBy(row);
    return url === undefined || said === undefined
      ? []
      : [{ name, url, from: row.from ?? "", user: row.user ?? "__token__", said }];
  });
}

function rowsOf(
  table: LoginTable,
  keys: UserKeys,
): readonly (readonly [name: string, fields: LoginRow, from: string])[] {
  const { form, at, fields } = table;
  if (form === "variables") {
    const row = fieldsIn(fields, keys.environment);
    return Object.keys(row).length === 0 ? [] : [[at, row, "the environment"]];
  }
  const found = table.from.split(" ").flatMap((place) => textOf(place, keys) ?? [])[0];
  if (found === undefined) return [];
  const steps = at.split(" ");
  if (form === "elements") {
    return elementsIn(found.text, steps, keys.environment).map((one) => [
      one["id"] ?? "",
      fieldsIn(fields, one),
      found.from,
    ]);
  }
  const tree = form === "tree" ? treeOf(found.text) : nested(tablesOf(found.text));
  return below(tree, steps, "").map(([name, value]) => [
    name,
    typeof value === "string"
      ? fields.token === ""
        ? { token: value }
        : {}
      : fieldsIn(fields, isTree(value) ? value : {}),
    found.from,
  ]);
}

function fieldsIn(fields: LoginTable["fields"], from: Readonly<Record<string, unknown>>): LoginRow {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, name]) => {
      const value = from[name];
      return typeof value === "string" && value !== "" ? [[field, value]] : [];
    }),
  );
}

/** The values that a path of names leads to, each with what stands for its `*`. */
function below(
  value: unknown,
  [step, ...rest]: readonly string[],
  name: string,
): readonly (readonly [string, unknown])[] {
  if (step === undefined) return [[name, value]];
  if (!isTree(value)) return [];
  return step === "*"
    ? Object.entries(value).flatMap(([key, one]) => below(one, rest, key))
    : below(Object.hasOwn(value, step) ? value[step] : undefined, rest, name);
}

type Tree = Readonly<Record<string, unknown>>;

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function treeOf(text: string): unknown {
  try {
    return parse(text, { logLevel: "silent" });
  } catch {
    return undefined;
  }
}

function nested(tables: ReadonlyMap<string, ReadonlyMap<string, string>>): Tree {
  const root: Record<string, unknown> = {};
  for (const [table, values] of tables) {
    const [top = "", ...more] = table.split(".");
    const inner = Object.fromEntries(values);
    // A name may have dots in it; deeper tables have no logins.
    if (more.length === 0) root[top] = { ...(isTree(root[top]) ? root[top] : {}), ...inner };
    else root[top] = { ...(isTree(root[top]) ? root[top] : {}), [more.join(".")]: inner };
  }
  return root;
}

/** The text of a place; undefined if there is none. */
function textOf(
  place: string,
  { home, environment }: UserKeys,
): { readonly text: string; readonly from: string } | undefined {
  const [, variable = "", rest = ""] = /^\$(\w+)(.*)$/.exec(place) ?? [];
  const value = environment[variable] ?? "";
  if (variable !== "" && rest === "") return value === "" ? undefined : { text: value, from: variable };
  if (variable !== "" && value === "") return undefined;
  const text = settingsText(variable === "" ? join(home, place.replace(/^~\//, "")) : join(value, rest));
  return text === "" ? undefined : { text, from: place };
}

function saidBy({ says, token, user, password, pair }: LoginRow): FoundLogin["said"] | undefined {
  if (token !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(token)) return undefined;
    if (says === "user") return basic(`__token__:${token}`);
    return says === "plain" ? { authorization: token, secrets: [token] } : bearer(token);
  }
  if (pair !== undefined) return basic(Buffer.from(pair, "base64").toString());
  return password === undefined ? undefined : basic(`${user ?? "__token__"}:${password}`);
}

/** @param name a host, perhaps with a port, or an address */
function addressOfHost(name: string): string | undefined {
  if (/^https?:\/\//.test(name)) return name;
  const url = /^[\w.-]+(?::\d+)?$/.test(name) ? URL.parse(`https://${name}/`) : null;
  if (url === null || (!url.hostname.includes(".") && !isLoopback({ host: url.hostname }))) return undefined;
  return isLoopback({ host: url.hostname }) ? `http://${name}/` : url.href;
}
