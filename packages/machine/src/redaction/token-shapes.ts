import { looksRandom } from "./random-text.ts";
import type { SecretRange } from "./secret-range.ts";

interface TokenShape {
  /** Occurs in every such token: a text without it is not searched. */
  readonly mark: string | RegExp;
  readonly shape: RegExp;
}

/**
 * Tokens that are recognized by their own shape and that secretlint does not know, by the names under which they are masked.
 * Shapes are as wide as the services' own descriptions allow, so that a token of a new length is recognized, too.
 */
const shapes: Readonly<Record<string, readonly TokenShape[]>> = {
  "1password": [{ mark: "ops_eyJ", shape: /ops_eyJ[\w+/=-]{100,}/ }],
  age: [
    { mark: "AGE-SECRET-KEY-1", shape: /AGE-SECRET-KEY-1[0-9A-Z]{50,}/ },
    { mark: "AGE-PLUGIN-", shape: /AGE-PLUGIN-[0-9A-Z-]{1,40}-1[0-9A-Z]{30,}/ },
  ],
  airtable: [{ mark: "pat", shape: /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/ }],
  alibaba: [{ mark: "LTAI", shape: /LTAI(?=[A-Za-z]{0,20}[0-9])[A-Za-z0-9]{12,26}(?![A-Za-z0-9])/ }],
  artifactory: [{ mark: "AKCp", shape: /AKCp[A-Za-z0-9]{60,}/ }],
  atlassian: [
    { mark: "ATATT3", shape: /ATATT3[\w=-]{60,}/ },
    { mark: "ATCTT3", shape: /ATCTT3[\w=-]{60,}/ },
    { mark: "ATBB", shape: /ATBB[A-Za-z0-9]{28,}/ },
  ],
  aws: [
    { mark: "A", shape: /A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])/ },
    // A session token, in base64.
    { mark: "YXdz", shape: /F[QwI]oGZXIvYXdz[A-Za-z0-9+/=]{40,}/ },
    { mark: "IQoJb3JpZ2lu", shape: /IQoJb3JpZ2lu[A-Za-z0-9+/=]{40,}/ },
    { mark: "ABSK", shape: /ABSK[A-Za-z0-9+/]{90,}={0,2}/ },
  ],
  azure: [
    { mark: "Q~", shape: /[\w.~-]{3}[0-9]Q~[\w.~-]{30,40}/ },
    // All of its services' keys since 2024, Azure DevOps and OpenAI among them.
    { mark: "JQQJ9", shape: /[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9+/=]{20,}/ },
  ],
  brevo: [{ mark: "keysib-", shape: /xkeysib-[0-9a-f]{40,}-[A-Za-z0-9]{16}/ }],
  buildkite: [{ mark: "bk", shape: /bk[a-z]{1,2}_[0-9a-f]{40}/ }],
  circleci: [{ mark: "CCIP", shape: /CCIP(?:AT|RJ)_\w{20,}/ }],
  cloudflare: [{ mark: "v1.0-", shape: /v1\.0-[0-9a-f]{20,}-[0-9a-f]{60,}/ }],
  contentful: [{ mark: "CFPAT-", shape: /CFPAT-[\w-]{40,}/ }],
  "crates-io": [{ mark: "cio", shape: /cio(?=[A-Za-z]{0,31}[0-9])[A-Za-z0-9]{32}(?![A-Za-z0-9])/ }],
  digitalocean: [{ mark: "_v1_", shape: /do[opr]_v1_[A-Za-z0-9]{40,}/ }],
  // A number in base64, a time, and a signature.
  discord: [
    { mark: ".", shape: /[MNO][DTjz][\w-]{20,28}\.[\w-]{6}\.(?=[A-Za-z_-]{0,40}[0-9])[\w-]{27,}/ },
    { mark: "/api/webhooks/", shape: /(?<=\/api\/webhooks\/[0-9]{15,22}\/)[\w-]{40,}/ },
  ],
  doppler: [{ mark: "dp.", shape: /dp\.(?:pt|st|ct|sa|said|scim|audit)\.(?:[\w-]{1,35}\.)?[A-Za-z0-9]{40,}/ }],
  dropbox: [{ mark: "sl.", shape: /sl\.(?:u\.)?(?=[A-Za-z_-]{0,130}[0-9])[\w-]{120,}/ }],
  dynatrace: [{ mark: "dt0", shape: /dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}/ }],
  facebook: [{ mark: "EAA", shape: /EAA[A-Za-z0-9]{100,}/ }],
  fly: [
    { mark: "fm", shape: /fm[12][ar]?_[\w+/=-]{80,}/ },
    { mark: "fo1_", shape: /fo1_[\w-]{40,}/ },
  ],
  gitlab: [
    { mark: "gl", shape: /gl(?:pat|rt|rtr|dt|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[\w.-]{20,}/ },
    { mark: "GR1348941", shape: /GR1348941[\w-]{20,}/ },
  ],
  github: [{ mark: "gh", shape: /gh[a-z]_[A-Za-z0-9]{36,}/ }],
  google: [
    { mark: "AQ.", shape: /AQ\.[\w-]{40,}/ },
    { mark: "AIza", shape: /AIza[\w-]{35}(?![\w-])/ },
    { mark: "GOCSPX-", shape: /GOCSPX-[\w-]{20,}/ },
    { mark: "ya29.", shape: /ya29\.[\w.-]{20,}/ },
    { mark: "1//", shape: /1\/\/0[\w-]{30,}/ },
  ],
  heroku: [{ mark: "HRKU-", shape: /HRKU-[\w-]{36,}/ }],
  huggingface: [
    { mark: "hf_", shape: /hf_[A-Za-z0-9]{30,}/ },
    { mark: "api_org_", shape: /api_org_[A-Za-z0-9]{30,}/ },
  ],
  jwt: [{ mark: "eyJ", shape: /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/ }],
  langsmith: [{ mark: "lsv2_", shape: /lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}/ }],
  mailchimp: [{ mark: "-us", shape: /[0-9a-f]{32}-us[0-9]{1,2}/ }],
  mailgun: [
    { mark: "key-", shape: /key-[0-9a-f]{32}(?![0-9a-f])/ },
    { mark: /-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])/, shape: /[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])/ },
  ],
  mapbox: [{ mark: ".eyJ", shape: /[st]k\.eyJ[\w-]{20,}\.[\w-]{20,}/ }],
  netlify: [{ mark: "nf", shape: /nf[a-z]_[A-Za-z0-9]{36,}/ }],
  "new-relic": [{ mark: "NR", shape: /NR(?:AK|II|AA|JS|RA)-[A-Za-z0-9_-]{20,}/ }],
  notion: [{ mark: "ntn_", shape: /ntn_[A-Za-z0-9]{40,}/ }],
  nuget: [{ mark: "oy2", shape: /oy2[a-z0-9]{43}(?![A-Za-z0-9])/ }],
  nvidia: [{ mark: "nvapi-", shape: /nvapi-[\w-]{40,}/ }],
  okta: [{ mark: "SSWS ", shape: /(?<=SSWS )00[\w-]{30,}/ }],
  openai: [{ mark: "sk-", shape: /sk-(?=[a-z-]{0,20}[\w-]{0,20}[0-9])(?:or-v1-|proj-|svcacct-|admin-)?[\w-]{32,}/ }],
  perplexity: [{ mark: "pplx-", shape: /pplx-[A-Za-z0-9]{40,}/ }],
  pinecone: [{ mark: "pcsk_", shape: /pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}/ }],
  planetscale: [{ mark: "pscale_", shape: /pscale_(?:tkn|oauth|pw|otkn)_[\w.=-]{30,}/ }],
  postman: [{ mark: "PMAK-", shape: /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/ }],
  pulumi: [{ mark: "pul-", shape: /pul-[0-9a-f]{40}/ }],
  pypi: [{ mark: "pypi-", shape: /pypi-AgE[\w-]{30,}/ }],
  replicate: [{ mark: "r8_", shape: /r8_[A-Za-z0-9]{35,}/ }],
  resend: [{ mark: "re_", shape: /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/ }],
  rubygems: [{ mark: "rubygems_", shape: /rubygems_[0-9a-f]{48}/ }],
  sentry: [{ mark: "sntry", shape: /sntry[a-z]_[\w+/=-]{60,}/ }],
  slack: [
    { mark: "xox", shape: /xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9%/+=-]{20,}/ },
    { mark: "xapp-", shape: /xapp-[0-9]-[A-Za-z0-9]+-[0-9]+-[A-Za-z0-9]{30,}/ },
  ],
  square: [{ mark: "sq0", shape: /sq0[a-z]{3}-[\w-]{22,}/ }],
  stripe: [
    { mark: "whsec_", shape: /whsec_[A-Za-z0-9+/=]{24,}/ },
    { mark: "k_", shape: /[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/ },
  ],
  supabase: [
    { mark: "sbp_", shape: /sbp_(?:v[0-9]_)?[0-9a-f]{40,}/ },
    { mark: "sb_secret_", shape: /sb_secret_[\w-]{20,}/ },
  ],
  telegram: [{ mark: ":A", shape: /[0-9]{8,10}:A[\w-]{34}(?![\w-])/ }],
  terraform: [{ mark: ".atlasv1.", shape: /[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}/ }],
  twilio: [{ mark: "SK", shape: /SK[0-9a-f]{32}(?![0-9a-f])/ }],
  vault: [{ mark: "s.", shape: /s\.(?=[A-Za-z]{0,20}[0-9][A-Za-z]{0,20}[0-9])[A-Za-z0-9]{24}(?![\w(])/ }],
  vercel: [{ mark: "vc", shape: /vc[a-z]_[A-Za-z0-9]{24,}/ }],
  xai: [{ mark: "xai-", shape: /xai-[A-Za-z0-9]{40,}/ }],
};

const table = Object.entries(shapes).flatMap(([rule, known]) =>
  known.map(({ mark, shape }) => ({ rule, mark, shape: new RegExp(shape, "g") })),
);

/** What services have in common: a word, and at once something random. The words of ids that are no secret are left out. */
const prefixed =
  /(?<![\w+=.$-])(?!sha[0-9]|md5|(?:call|toolu|file|msg|req|resp|run|thread|asst|conv|ses|chatcmpl|cus|evt|acct|org|user|app)[_-])[A-Za-z][A-Za-z0-9]{0,11}(?:[_-][a-z][a-z0-9]{0,9}){0,3}([_-])((?:[A-Za-z0-9]{6,24}_)?[A-Za-z0-9]{20,})(?![\w+/=-])/g;

/** Of one case, a hash of git or of content looks the same: such tokens are longer, and have an underscore before them. */
const longestHash = 40;

function prefixedTokens(text: string): readonly SecretRange[] {
  return [...text.matchAll(prefixed)]
    .filter(({ 1: separator, 2: random = "" }) => {
      const isOfOneCase = !/[a-z]/.test(random) || !/[A-Z]/.test(random);
      return looksRandom(random) && !(isOfOneCase && (separator === "-" || random.length < longestHash));
    })
    .map(({ 0: secret, index }) => ({ start: index, end: index + secret.length, rule: "token" }));
}

/** Tokens of services, anywhere in the text. */
export function tokenShapes(text: string): readonly SecretRange[] {
  const known = table
    .filter(({ mark }) => (typeof mark === "string" ? text.includes(mark) : mark.test(text)))
    .flatMap(({ rule, shape }) =>
      [...text.matchAll(shape)]
        // Within a longer word there is no token.
        .filter(({ index }) => !/[A-Za-z0-9]/.test(text.charAt(index - 1)))
        .map(({ 0: secret, index }) => ({ start: index, end: index + secret.length, rule })),
    );
  return [...known, ...prefixedTokens(text)];
}
