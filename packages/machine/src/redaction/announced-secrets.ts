import { looksRandom } from "./random-text.ts";
import type { SecretRange } from "./secret-range.ts";

interface Announcement {
  readonly rule: string;
  /** Matches in linear time; its one matching group is the secret, at the end of the match. */
  readonly pattern: RegExp;
  /** Matches every text that contains such a secret. */
  readonly mark?: RegExp;
  /** True if the match looks like a secret; needed if names and words of code may be in its place. */
  readonly looks?: (secret: string) => boolean;
}

const key = "(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|session[_-]?id)";
/** Few blanks may be between a key word and its value. Quotes may be escaped: text is quoted in messages and JSON. */
const quote = `\\\\{0,3}["']?`;
const blanks = "[ \\t]{0,4}";
/** A value on a command line, quoted or not. */
const argument = `(?:'([^'\\n]{3,256})'|"([^"\\n]{3,256})"|([^\\s"'|;&<>]{3,256}))`;
const user = `(?:'[^':\\n]{1,64}:([^'\\n]{3,256})'|"[^":\\n]{1,64}:([^"\\n]{3,256})"|[^\\s:"']{1,64}:([^\\s"'|;&<>]{3,256}))`;
/** Options within one command. */
const options = "[^\\n|;&]{0,400}?[ \\t]";

/** Programs that take a password on their command line, and `.netrc`: several words may come before the password. */
export const passwordPrograms = /\b(?:curl|mysql|mariadb|sshpass|redis-cli|login|machine)/;

/** An option whose value has not begun, or has begun with a quote and may continue after a blank. */
export const openOption = /(?:^|\s)-{1,2}[A-Za-z-]{1,20}[ =]?(?:["'][^"'\n]{0,256}(?:["']\S{0,64})?)?$/;

/** Secrets that are recognized by the text before them, not by their own shape. */
const announcements: readonly Announcement[] = [
  // `Authorization: Bearer …`, `"Authorization":"Basic …"`: any scheme.
  {
    rule: "authorization",
    pattern: new RegExp(
      `\\bauthorization${quote}${blanks}[:=]${blanks}${quote}(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \\t]{1,4})?([A-Za-z0-9._~+/=-]{8,})`,
      "gi",
    ),
    looks: (secret) => !/^(?:[a-z]+|[A-Z]+|[A-Za-z_$]+(?:\.[A-Za-z_$]+)+)$/.test(secret),
  },
  { rule: "bearer", pattern: /\bbearer[ \t]{1,4}["']?([A-Za-z0-9._~+/=-]{16,})/gi, looks: mixed },
  {
    rule: "header",
    pattern: new RegExp(
      `(?:\\bx-[a-z0-9-]{0,40}(?:key|token|secret|auth)|private-token|deploy-token|job-token|api-key|application-key|subscription-key)${quote}${blanks}:${blanks}${quote}([A-Za-z0-9._~+/=-]{8,512})`,
      "gi",
    ),
    looks: mixed,
  },
  // `PASSWORD=…`, `"api_key": "…"`, `token: '…'`: quoted, or unquoted directly after `=`.
  {
    rule: "assignment",
    pattern: new RegExp(
      `${key}[A-Za-z0-9_]{0,24}${quote}${blanks}[:=]${blanks}(?:"([^"\\s]{8,512})"|'([^'\\s]{8,512})'|\\\\{1,3}"([^"\\s\\\\]{8,512})\\\\{1,3}")`,
      "gi",
    ),
    looks: mixed,
  },
  {
    rule: "assignment",
    pattern: new RegExp(`${key}[A-Za-z0-9_]{0,24}=([^\\s"'\`&;,<>(){}[\\]$|\\\\]{8,512})`, "gi"),
    looks: mixed,
  },
  // YAML and .ini files have no quotes, so only values that do not look like a name in a program.
  {
    rule: "assignment",
    pattern: new RegExp(
      `${key}${quote}[ \\t]{0,4}[:=][ \\t]{1,4}([A-Za-z0-9+/=_.~!@#%^*-]{12,512})(?![\\w.([{<,;)\\]}])`,
      "gi",
    ),
    looks: random,
  },
  // `AZURE_OPENAI_KEY=…`, `devops_pat: …`: names that need not mean a secret, before something random.
  {
    rule: "assignment",
    pattern: new RegExp(
      `(?<=[\\w-])(?<!(?:public|cache|primary|foreign|idempotency|integrity)[_-]?)(?:key|pat|pwd|sas|auth|credentials?)${quote}${blanks}[:=]${blanks}${quote}([A-Za-z0-9+/=_-]{20,512})(?![\\w])`,
      "gi",
    ),
    looks: looksRandom,
  },
  // Files in which programs keep their logins.
  {
    rule: "kubeconfig",
    pattern: /\bclient-(?:key|certificate)-data\\{0,3}["']?:[ \t]{0,4}["']?([A-Za-z0-9+/=]{16,})/g,
  },
  { rule: "npmrc", pattern: /\b_auth\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([A-Za-z0-9+/=_-]{8,})/g },
  { rule: "docker", pattern: /"auth\\{0,3}"[ \t]{0,4}:[ \t]{0,4}\\{0,3}"([A-Za-z0-9+/=]{12,})/g, looks: mixed },
  {
    rule: "netrc",
    pattern:
      /\bmachine\s{1,16}(?:\S{1,128}\.\S{1,128}|localhost)\s{1,16}login\s{1,16}\S{1,256}\s{1,16}password\s{1,16}(\S{3,256})/g,
  },
  {
    rule: "netrc",
    pattern: /\bdefault\s{1,16}login\s{1,16}\S{1,256}\s{1,16}password\s{1,16}(\S{3,256})/g,
    looks: mixed,
  },
  {
    rule: "pgpass",
    mark: /:(?:[0-9]{4,5}|\*):[A-Za-z_*]/,
    pattern:
      /(?<![\w.*-])[\w.*-]{1,128}:(?:[0-9]{4,5}|\*):[A-Za-z_*][\w.*-]{0,63}:[A-Za-z_*][\w.*@-]{0,63}:((?:[^\s:\\"']|\\.){3,256})(?![:\w])/g,
    looks: mixed,
  },
  // Addresses; also one that was normalized like a path, which makes one slash of two.
  {
    rule: "address",
    pattern:
      /(?:(?<=[a-z0-9]):\/\/|(?<=\b(?:https?|ssh|git|ftps?)):\/)[^\s:@/"'<>`]{0,256}:([^\s@/"'<>`]{3,256})@(?=[\w.[-])/gi,
    looks: (secret) => !/^(?:pass(?:word|wd)?|pwd)$/i.test(secret),
  },
  {
    rule: "signed-address",
    pattern: /(?:[?&;]|u0026)(?:sig|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=([A-Za-z0-9%+/=_-]{20,})/gi,
  },
  { rule: "azure", pattern: /\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{20,}={0,2})/gi },
  // Command lines.
  {
    rule: "command",
    pattern: new RegExp(`\\bcurl\\b${options}(?:-[uU][ \\t]?|--(?:proxy-)?user[ =])${user}`, "g"),
    looks: chosen,
  },
  {
    rule: "command",
    pattern: new RegExp(`\\bm(?:ysql|ariadb)[\\w-]{0,12}\\b${options}-p${argument}`, "g"),
    looks: chosen,
  },
  { rule: "command", pattern: new RegExp(`\\bsshpass[ \\t]{1,4}-p[ \\t]?${argument}`, "g"), looks: chosen },
  {
    rule: "command",
    pattern: new RegExp(`\\bredis-cli\\b${options}(?:-a[ \\t]|--pass[ =])${argument}`, "g"),
    looks: chosen,
  },
  { rule: "command", pattern: new RegExp(`(?<=[a-z][ \\t])login\\b${options}-p[ \\t]${argument}`, "g"), looks: chosen },
  {
    rule: "command",
    pattern: new RegExp(
      `(?<=[\\s"'])--(?:[a-z]{1,12}-)?(?:password|passwd|pass|token|secret|api-key)[ =]${argument}`,
      "g",
    ),
    looks: mixed,
  },
];

/** Secrets that the text next to them announces. */
export function announcedSecrets(text: string): readonly SecretRange[] {
  const found: SecretRange[] = [];
  for (const { rule, mark, pattern, looks } of announcements) {
    if (mark?.test(text) === false) continue;
    for (const match of text.matchAll(pattern)) {
      const secret = match[1] ?? match[2] ?? match[3];
      if (secret === undefined || isPlaceholder(secret) || looks?.(secret) === false) continue;
      const start = match.index + match[0].lastIndexOf(secret);
      found.push({ start, end: start + secret.length, rule });
    }
  }
  return found;
}

function isPlaceholder(secret: string): boolean {
  return /^(?:process|import|config|env|self|this|os)\.|^[$%{]|^\[REDACTED:|^(.)\1*$/.test(secret);
}

/** Excludes names and words of code: a secret has both letters and digits. */
function mixed(secret: string): boolean {
  return /\d/.test(secret) && /[A-Za-z]/.test(secret);
}

/** Excludes names in a program, unless they have many digits. */
function random(secret: string): boolean {
  return mixed(secret) && (!/^[A-Za-z_$][\w$.]*$/.test(secret) || (secret.match(/\d/g)?.length ?? 0) >= 4);
}

/** Excludes placeholders for a password in a manual. */
function chosen(secret: string): boolean {
  return !/^[A-Z_]+$/.test(secret);
}
