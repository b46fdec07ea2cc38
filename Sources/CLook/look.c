#include "CLook.h"

// Of C23, which clang has in every mode.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char stylesheet[] = {
#embed "../CGalleryPage/Page/look.css"
    , '\n',
#embed "sheet.css"
};

struct look_stylesheet look_of_sheets(void) { return (struct look_stylesheet){stylesheet, sizeof stylesheet}; }
