/* realloc as a simple allocator does it: a block stays where it is within its pages, and is otherwise copied to a new
   one, while the old one goes back to the system. Preloaded, it makes the cost of that visible on any Linux:

       cc -shared -fPIC -O2 -o copying-realloc.so copying-realloc.c */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *realloc(void *old, size_t size)
{
    static int is_fixed;
    if (!is_fixed) {
        is_fixed = 1;
        /* Blocks from here on have pages of their own. */
        mallopt(M_MMAP_THRESHOLD, 64 * 1024);
    }
    size_t have = old ? malloc_usable_size(old) : 0;
    if (old && size && size <= have && have - size < 4096)
        return old;
    void *new = malloc(size);
    if (old && new) {
        memcpy(new, old, have < size ? have : size);
        free(old);
    }
    return new;
}
