import { basename, dirname } from "node:path";

/**
 * Whether a file holds settings that a command needs, of which lines may be a login. @param path absolute, or relative with its
 * directory
 */
export function mayHoldLogin(path: string, inGitDirectory: boolean): boolean {
  const name = basename(path);
  return isRegistrySettings(path) || name === ".gitconfig" || (inGitDirectory && gitSettings.has(name));
}

/**
 * The file without logins, and without users in addresses; sources of packages stay. Undefined if it contains no login.
 *
 * @param isRegistry it has the form of settings for registries; by default, its name says that
 * @param elements it is XML, of which only these elements are left
 */
export function withoutLogins(
  path: string,
  bytes: Uint8Array,
  { isRegistry = isRegistrySettings(path), elements }: { isRegistry?: boolean; elements?: string | undefined } = {},
): Uint8Array | undefined {
  // latin1 maps each byte to one character, so bytes that are not text come out unchanged.
  const text = Buffer.from(bytes).toString("latin1");
  const lines = isRegistry ? registryLines : gitLines;
  const kept = elements === undefined ? lines(text).map(withoutUser).join("\n") : shownElements(text, elements);
  return kept === text ? undefined : Buffer.from(kept, "latin1");
}

const gitSettings: ReadonlySet<string> = new Set(["config", "config.worktree"]);

const registrySettings: ReadonlySet<string> = new Set(
  ".npmrc .yarnrc .yarnrc.yml bunfig.toml .bunfig.toml pip.conf pip.ini uv.toml poetry.toml nuget.config".split(" "),
);

/** By directory and name, because the name alone does not identify these files. */
const registrySettingsIn: ReadonlySet<string> = new Set(".cargo/config .cargo/config.toml pnpm/rc".split(" "));

function isRegistrySettings(path: string): boolean {
  const name = basename(path);
  return registrySettings.has(name.toLowerCase()) || registrySettingsIn.has(`${basename(dirname(path))}/${name}`);
}

/** The lines without settings that are a login; indented lines that continue such a setting go too. */
function registryLines(text: string): readonly string[] {
  let loginAt: number | undefined;
  return text
    .split("\n")
    .map((line) => line.replace(valueInTable, '$1""'))
    .filter((line) => {
      const indent = line.search(/\S/);
      if (loginAt !== undefined && indent > loginAt) return false;
      const isLogin = registryLogin.test(line.replace(emptyValue, "").replace(/\S*:\/\/\S*/g, ""));
      if (indent >= 0 || isLogin) loginAt = isLogin ? Math.max(indent, 0) : undefined;
      return !isLogin;
    });
}

/** `//host/:` begins npm's settings for one registry: logins, certificates, programs that give out tokens. */
const registryLogin =
  /^\s*"?\/\/|auth(?!or)|passw|token|secret|username|^\s*"?(?:cert|key|certfile|keyfile|client-cert|httpsCertFilePath|httpsKeyFilePath|email)"?\s*[=:]|credential-provider/i;

/** For TOML, where an address may be on the same line: only the value is removed. */
const valueInTable =
  /((?:token|password|username|secret(?:-key)?)["']?\s*=\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*')(?=[^\n]*\})/gi;
const emptyValue = /(?:token|password|username|secret(?:-key)?)["']?\s*=\s*""/gi;

/** Of XML only these elements, without attributes: any other may hold anything. An empty root where it cannot be read. */
function shownElements(text: string, names: string): string {
  const shown = new Set(names.split(" "));
  const open: string[] = [];
  let [kept, hidden, at] = ["", 0, 0];
  for (const { 0: whole, 1: data, 2: end, 3: name, 4: empty, 5: plain = data ?? "", index } of text.matchAll(xml)) {
    if (index !== at) break;
    at += whole.length;
    if (name === undefined) kept += hidden > 0 || mayHide.test(plain) ? "" : withoutUser(plain);
    else if (end === "/") {
      if (open.pop() !== name) break;
      if (hidden === 0) kept += `</${name}>`;
      else hidden -= 1;
    } else {
      const isHidden = hidden > 0 || !shown.has(name);
      if (!isHidden) kept += `<${name}${empty ?? ""}>`;
      if (empty === "/") continue;
      open.push(name);
      if (isHidden) hidden += 1;
    }
  }
  return at === text.length && open.length === 0 ? kept : "<settings/>\n";
}

const xml =
  /<!--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>|<\?[^]*?\?>|<(\/?)([\w.:-]+)(?:\s(?:[^<>"']|"[^<"]*"|'[^<']*')*?)?(\/?)>|([^<]+)/g;
/** A character in another form, or what stands behind an address. */
const mayHide = /[&?<]/;

/** Without the settings that are a login; text before them on their line stays. */
function gitLines(text: string): readonly string[] {
  const kept: string[] = [];
  let goesOn = false;
  for (const line of text.split("\n")) {
    const [, section = "", setting = ""] = /^(\s*(?:\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])?)(.*)$/s.exec(line) ?? [];
    const isLogin: boolean = goesOn || gitLogin.test(setting);
    goesOn = isLogin && /\\\r?$/.test(line);
    if (!isLogin) kept.push(line);
    else if (section.trim() !== "") kept.push(section);
  }
  return kept;
}

/** A helper that is a line of shell may contain the password itself. */
const gitLogin = /^\s*(?:(?:extraheader|\w*password|\w*token|\w*pass|oauth\w*|cookie\w*)\s*=|helper\s*=\s*"?!)/i;

function withoutUser(text: string): string {
  return text.replace(userInAddress, "://").replace(userInProxy, "$1");
}

/** A password may contain an `@`, and a `/` if the text before it is no port. An ssh user is part of the address. */
const userInAddress = /:\/\/[^/\s:@"']+:(?!\d+(?:[/\s"']|$))[^\s"']*@|(?<!ssh):\/\/[^/\s"']*@/g;

/** Proxies are also named without a scheme. */
const userInProxy = /(\bproxy\s*[=:]\s*["']?)[^/\s"']+@/gi;
