import { expect, test } from "vitest";
import { createModelConnections, proxyVariables } from "./model-connections.ts";

const proxy = { HTTPS_PROXY: "http://proxy.example:3128" };

test("one agent for each protocol, and loopback past the proxy", () => {
  const connections = createModelConnections(proxy);
  const to = (url: string) => connections.to(new URL(url));
  expect(to("https://a.example/v1")).toBe(to("https://b.example/"));
  expect(to("https://a.example")).not.toBe(to("http://a.example"));
  expect(to("https://127.0.0.1:8443")).toBe(to("https://localhost"));
  expect(to("https://127.1")).toBe(to("https://[::1]:9"));
  expect(to("https://127.0.0.1")).not.toBe(to("https://a.example"));
  expect(to("https://127.example.com")).toBe(to("https://a.example"));
  connections.close();
});

test("of an environment only what names a proxy is kept", () => {
  expect(proxyVariables({ ...proxy, no_proxy: "", PATH: "/bin", OPENAI_API_KEY: "k", HTTP_PROXY: undefined })).toEqual({
    ...proxy,
    no_proxy: "",
  });
});
