/** Finds and makes elements of the page. */

export const byId = <Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind => {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
};

/** Inserts text only: nothing in a bundle becomes markup. */
export const element = (
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...content: (string | Node)[]
): HTMLElement => {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...content);
  return made;
};
