/** Values of letters alone behind a name that says that they are secret, and what only resembles them. */
import { describe, expect, test } from "vitest";
import { createRedactor } from "./index.ts";

const redactor = createRedactor();
const SMALL = "kqzjvhwmxplsgtrf";
const CAPITALS = SMALL.toUpperCase();

describe("letters alone are a secret", () => {
  test.each([
    `password=${SMALL}\n`,
    `password = "${CAPITALS}"`,
    `db_password: ${SMALL}\n`,
    `api_key=${SMALL}\n`,
    `API_KEY=${CAPITALS}\n`,
    `"apiKey": "${SMALL}",`,
    `secret: ${SMALL}\n`,
    `client_secret = '${SMALL}'`,
    `token=${SMALL}&page=2`,
    `aws_creds: "${SMALL}"`,
  ])("in %j", (text) => {
    expect(redactor.redact(text).text).not.toMatch(new RegExp(SMALL, "i"));
  });

  test.each(["password=sunshine\n", "https://a.test/?user=ada&password=sunshine&x=1", "Server=db;Password=sunshine;"])(
    "also as a word, in %j",
    (text) => {
      expect(redactor.redact(text).text).not.toContain("sunshine");
    },
  );
});

describe("no secret is", () => {
  test.each([
    "password = getPassword()",
    "password: string",
    "password: PasswordField,",
    "connect(user=user, password=sunshine)",
    "connect(password=userpassword, timeout=3)",
    "password=newpassword\n",
    "password=changeme\n",
    "api_key=None",
    "api_key: <your-key>",
    "api_key=$" + "{API_KEY}",
    "secret: authentication",
    "secret = kubernetesSecretName",
    "token: AuthenticationTokenProvider",
    "TOKEN=IDENTIFIER",
    "ptr_to_the_first_element_of_the_list",
    "API-REFERENCE-FOR-DEVELOPERS",
    "account-preferences-panel",
  ])("%s", (text) => {
    expect(redactor.redact(text).text).toBe(text);
  });
});
