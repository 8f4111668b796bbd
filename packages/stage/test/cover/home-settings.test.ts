import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { homeSettings } from "#cover/home-settings";

test.each([
  [
    ".npmrc",
    "registry=https://me:secret-one@npm.example/?key=secret-3\n//npm.example/:_authToken=secret-two\n ; old: secret-4\n",
    "npm.example",
  ],
  [".config/go/env", "GOPROXY=https://me:secret-one@go.example/\n", "GOPROXY=https://go.example/\n"],
  [
    ".config/pdm/config.toml",
    '[pypi]\nurl = "https://pdm.example/simple"\nusername = "me"\npassword = "secret-one"\n',
    '[pypi]\nurl = "https://pdm.example/simple"\n',
  ],
  [
    ".m2/settings.xml",
    '<settings><!-- <servers> --><servers><server><id>corp</id><password><![CDATA[</servers>secret-one]]></password></server>\n</servers><proxies><proxy><username>secret-two</username></proxy></proxies><mirrors><mirror><url>https://me:secret-three@maven.example/</url></mirror></mirrors><profiles><profile><id>a</id><properties><sonar.login>secret-four</sonar.login><x/></properties></profile></profiles><other id="secret-five"><url>secret-six</url></other><offline a="secret-seven"/></settings>\n',
    "<settings><mirrors><mirror><url>https://maven.example/</url></mirror></mirrors><profiles><profile><id>a</id></profile></profiles><offline/></settings>\n",
  ],
  [".m2/settings.xml", "<settings><servers><server><password>secret-one</password>", "<settings/>"],
  [
    ".m2/settings.xml",
    '<settings><mirrors><mirror note="a>secret-one"><url>http://nexus:8081/a</url></mirror><mirror><url>https://me:secret-two@b/</url></mirror><mirror><url>https://me:secret-three&#64;b/</url></mirror><mirror><url>https://c/?token=secret-four</url></mirror><mirror><url><![CDATA[https://d/e]]></url></mirror></mirrors></settings>',
    "<settings><mirrors><mirror><url>http://nexus:8081/a</url></mirror><mirror><url>https://b/</url></mirror><mirror><url></url></mirror><mirror><url></url></mirror><mirror><url>https://d/e</url></mirror></mirrors></settings>",
  ],
])("%s of the home is there without its logins", async (place, text, shown) => {
  await using home = await temporaryDirectory({ [place]: text, ".netrc": "machine x login me password secret-one\n" });
  const [settings, ...more] = homeSettings(home.root);
  expect(more).toEqual([]);
  expect(settings).toMatchObject({ path: home.path(place), text: expect.stringContaining(shown) });
  expect(settings?.text).not.toContain("secret-");
});
