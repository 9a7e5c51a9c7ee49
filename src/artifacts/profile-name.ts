/** How profiles, permission presets and packs of skills may be called. What is not such a name is the path of a file. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

export function isProfileName(text: string): boolean {
  return NAME.test(text);
}
