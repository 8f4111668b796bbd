import type { Program, RegistryUse } from "./program.ts";
import { adds, asks, begins, gets, names, publishes, takes } from "./shared-rows.ts";

const hosts = "pypi.org files.pythonhosted.org";
const manifests = "pyproject.toml";
const deploys = { anyOperand: /^(?:publish|unpublish|push|upload|release)$/ };

/** It runs a `setup.py`: no answer for its connections lasts. Versions have names of their own: `pip3.12`. */
const pip: Program = {
  names: "pip pip3",
  tellsVersion: true,
  hosts,
  settings: ".pip/pip.conf .config/pip/pip.conf",
  logins: ["pip.conf"],
  verbs: { "install download wheel": asks, "index search": gets, "uninstall show": names },
};

/** Each form of an upload is the same; they are read as an index of pip's. */
const uploads: Pick<RegistryUse, "reads" | "archives" | "publishes"> = {
  reads: /^(?:[\w.-]+\/)+$/,
  archives: /\/[\w.]+-\d[\w.!+%-]*\.(?:whl|whl\.metadata|tar\.gz|zip)$/,
  publishes: { method: "POST", path: /^$/, form: "python-upload" },
};

const usual = { pypi: "https://upload.pypi.org/legacy/", testpypi: "https://test.pypi.org/legacy/" };

const twine: RegistryUse = {
  ...uploads,
  logins: [
    {
      from: "~/.pypirc",
      form: "tables",
      at: "*",
      fields: { address: "repository", user: "username", password: "password" },
      usual,
    },
    {
      from: "",
      form: "variables",
      at: "pypi",
      fields: { address: "TWINE_REPOSITORY_URL", user: "TWINE_USERNAME", password: "TWINE_PASSWORD" },
    },
  ],
  inRun: {
    variables: {
      TWINE_REPOSITORY_URL: "$ADDRESS",
      TWINE_USERNAME: "$USER",
      TWINE_PASSWORD: "$LOGIN",
      TWINE_NON_INTERACTIVE: "1",
    },
    option: "-r --repository --repository-url",
  },
};

const poetry: RegistryUse = {
  ...uploads,
  logins: [
    { from: "~/.config/pypoetry/config.toml", form: "tables", at: "repositories *", fields: { address: "url" }, usual },
    {
      from: "~/.config/pypoetry/auth.toml",
      form: "tables",
      at: "http-basic *",
      fields: { user: "username", password: "password" },
      usual,
    },
    {
      from: "~/.config/pypoetry/auth.toml",
      form: "tables",
      at: "pypi-token *",
      fields: { token: "" },
      usual,
      says: "user",
    },
  ],
  inRun: {
    variables: {
      POETRY_REPOSITORIES_$NAME_URL: "$ADDRESS",
      POETRY_HTTP_BASIC_$NAME_USERNAME: "$USER",
      POETRY_HTTP_BASIC_$NAME_PASSWORD: "$LOGIN",
    },
  },
};

const pdm: RegistryUse = {
  ...uploads,
  logins: ["repository *", "*"].map((at) => ({
    from: "~/.config/pdm/config.toml",
    form: "tables",
    at,
    fields: { address: "url", user: "username", password: "password" },
    usual,
  })),
  inRun: {
    variables: { PDM_PUBLISH_USERNAME: "$USER", PDM_PUBLISH_PASSWORD: "$LOGIN" },
    option: "-r --repository",
  },
};

/** Each writes its dependencies into a manifest. */
const ofProject: Program["verbs"] = {
  add: adds,
  remove: takes,
  "init version": begins,
  "install i update upgrade sync lock": gets,
  "search show run": names,
  publish: publishes,
};
const apart: Program["verbs"] = { "install upgrade update inject run": asks, "uninstall remove": names };

export const ofPython: readonly Program[] = [
  pip,
  { names: "python python3", tellsVersion: true, starts: true, module: "-m" },
  { names: "pipx pipenv", hosts, starts: true, logins: ["pip.conf"], verbs: apart },
  {
    names: "uv",
    hosts,
    settings: ".config/uv/uv.toml",
    manifests,
    starts: true,
    deploys,
    logins: ["pip.conf"],
    verbs: { ...ofProject, "pip tool": { reaches: true, login: true } },
  },
  { names: "uvx", otherwise: { reaches: true }, starts: true },
  {
    names: "poetry",
    hosts: `${hosts} upload.pypi.org`,
    manifests,
    starts: true,
    deploys,
    registry: poetry,
    verbs: { ...ofProject, add: { ...adds, login: true }, "install i update upgrade sync lock": asks },
  },
  {
    names: "pdm",
    hosts,
    manifests,
    starts: true,
    tasks: true,
    deploys,
    settings: ".config/pdm/config.toml",
    registry: pdm,
    verbs: { ...ofProject, add: { ...adds, login: true }, "install i update upgrade sync lock": asks },
  },
  { names: "hatch", hosts, manifests, starts: true, tasks: true, deploys, verbs: ofProject },
  { names: "rye", hosts, manifests, starts: true, deploys, verbs: ofProject },
  {
    names: "conda mamba",
    hosts: "conda.anaconda.org repo.anaconda.com",
    starts: true,
    deploys,
    verbs: { "install update upgrade search create": gets, "remove uninstall run": names },
  },
  {
    names: "pixi",
    hosts: "conda.anaconda.org prefix.dev",
    manifests: "pixi.toml pyproject.toml",
    starts: true,
    tasks: true,
    deploys,
    verbs: { ...ofProject, "remove rm": takes, "global exec": gets, "shell-hook list ls info": names },
  },
  { names: "flit maturin", deploys },
  {
    names: "twine",
    hosts: "upload.pypi.org test.pypi.org",
    deploys: { verb: /^(?:upload|register)$/ },
    registry: twine,
    verbs: { upload: publishes, register: publishes, check: names },
  },
  { names: "python2 py", starts: true },
  { names: "tox", tasks: true, obeys: "tox.ini pyproject.toml" },
  { names: "invoke inv fab nox poe", tasks: true },
];
