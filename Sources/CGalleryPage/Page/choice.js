/** What the user has chosen for this page, kept in the browser. Without storage a choice holds until the next load. */
export const choices = {
  get(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },

  set(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // See above.
    }
  },
};
