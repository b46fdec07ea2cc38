/** Shows the sheet of shortcuts at a click on a button, or when `?` is pressed, over whatever is open. */
export function offerShortcuts(template, button) {
  button.addEventListener('click', show);
  addEventListener('keydown', (event) => {
    const isTyping = event.target.closest?.('input, select, textarea');
    if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    show();
  });

  function show() {
    if (document.getElementById('shortcuts-title')) return;
    const sheet = template.content.firstElementChild.cloneNode(true);
    // Within a picture that fills the screen, nothing outside of it would be seen.
    (document.fullscreenElement ?? document.body).append(sheet);
    sheet.addEventListener('click', ({ target }) => {
      if (target === sheet || target.closest('button')) sheet.close();
    });
    sheet.addEventListener('keydown', (press) => press.stopPropagation());
    sheet.addEventListener('close', () => sheet.remove());
    sheet.showModal();
  }
}
