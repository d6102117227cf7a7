#include "node/inventory/uevent.h"

#include <string.h>

static bool parse_hex(struct part p, size_t digits_max, uint32_t *ret)
{
    uint32_t value = 0;
    if (p.len == 0 || p.len > digits_max)
        return false;
    for (size_t i = 0; i < p.len; i++) {
        char c = p.at[i];
        if (c >= '0' && c <= '9')
            value = value * 16 + (uint32_t) (c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value * 16 + (uint32_t) ((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    *ret = value;
    return true;
}

static bool parse_id(struct part p, struct uevent *u)
{
    struct part vendor;
    return part_next(&p, ':', &vendor) && parse_hex(vendor, 4, &u->vendor) &&
           parse_hex(p, 4, &u->device);
}

static struct part line_of(struct part *text)
{
    size_t len = 0;
    while (len < text->len && text->at[len] != '\n' && text->at[len] != '\0')
        len++;
    struct part line = { text->at, len };
    len += len < text->len;
    *text = (struct part){ text->at + len, text->len - len };
    return line;
}

bool uevent_parse(struct part text, struct uevent *ret)
{
    struct part name, value;
    bool has_id = false, has_class = false;
    *ret = (struct uevent){ 0 };
    while (text.len) {
        if (!part_assignment(line_of(&text), &name, &value))
            continue;
        if (part_is(name, "PCI_ID"))
            has_id = parse_id(value, ret);
        else if (part_is(name, "PCI_CLASS"))
            has_class = parse_hex(value, 6, &ret->class);
        else if (part_is(name, "DRIVER"))
            ret->driver = value;
        else if (part_is(name, "PCI_SLOT_NAME"))
            ret->address = value;
    }
    return has_id && has_class;
}
